//! Enums whose variants have names in specs, plans and tables.

use serde::{Deserialize, Serialize};

/// Defines an enum whose variants have names.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// All of them, in the order tables list them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

pub(crate) use named;

named! {
    Precision {
        F32 = "f32",
        F64 = "f64",
    }
}
