//! Enums whose variants have names in experiments, plans and tables.

/// An enum whose variants have names; made by [`choices!`](crate::choices).
pub trait Choice: Copy + PartialEq + 'static {
    /// Every variant, in the order in which tables list them.
    const ALL: &'static [Self];
    /// Their names, in the same order.
    const NAMES: &'static [&'static str];

    /// The name of this variant.
    fn name(self) -> &'static str;

    /// The variant with a name.
    fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().position(|known| *known == name)?;
        Self::ALL.get(found).copied()
    }
}

/// Defines an enum whose variants have names: it is written and read by them, and is a [`Choice`].
///
/// ```
/// wug_parameter::choices! {
///     /// Which way to go.
///     pub enum Direction {
///         /// West.
///         Left = "left",
///         /// East.
///         Right = "right",
///     }
/// }
/// use wug_parameter::Choice as _;
/// assert_eq!(Direction::Left.name(), "left");
/// assert_eq!(Direction::named("right"), Some(Direction::Right));
/// assert_eq!(serde_json::to_string(&Direction::Left).unwrap(), "\"left\"");
/// ```
#[macro_export]
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(unreachable_pub, reason = "whether it is reachable is a matter of the module")]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        #[allow(dead_code, unreachable_pub, reason = "not every enum needs all of it, or is reachable")]
        impl $name {
            /// Every variant, in the order in which tables list them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl $crate::Choice for $name {
            const ALL: &'static [Self] = Self::ALL;
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn name(self) -> &'static str {
                self.name()
            }
        }

        impl $crate::serde::Serialize for $name {
            // By a path through this crate: who uses the macro need not depend on serde.
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str($crate::Choice::name(*self))
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <String as $crate::serde::Deserialize>::deserialize(from)?;
                let unknown = || $crate::serde::de::Error::unknown_variant(&name, <Self as $crate::Choice>::NAMES);
                <Self as $crate::Choice>::named(&name).ok_or_else(unknown)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad($crate::Choice::name(*self))
            }
        }
    };
}
