//! How a number of parameters becomes dimensions.

crate::choices! {
    /// How dimensions are found from a size.
    pub enum Matching {
        /// The root of the published quadratic, which approximates the count, rounded half to even; `Nearest` for learners that
        /// have no published formula.
        Published = "published",
        /// A search over all dimensions that are not given. The usual shape of the family, with the width whose true count is
        /// nearest, if this is within 5 %; else the least change of the other dimensions with which it is; else the nearest of all.
        Nearest = "nearest",
    }
}
