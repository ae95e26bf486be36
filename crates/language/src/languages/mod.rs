//! Every language, one file each; files without an entry hold what several of them share.

mod answered;
mod binary_operation;
mod counting;
mod dyck;
mod marked;
mod number;
mod phrase;

pub use counting::PRIOR;
pub use phrase::CLASSES;

pub(crate) mod adj_np;
pub(crate) mod an_bm_cn_plus_m;
pub(crate) mod an_bn;
pub(crate) mod an_bn_cn;
pub(crate) mod an_bn_cn_dn;
pub(crate) mod binary_addition;
pub(crate) mod binary_multiplication;
pub(crate) mod bounded_dyck;
pub(crate) mod bucket_sort;
pub(crate) mod compute_sqrt;
pub(crate) mod cross_serial;
pub(crate) mod cycle_navigation;
pub(crate) mod dyck_1;
pub(crate) mod dyck_2;
pub(crate) mod even_pairs;
pub(crate) mod first;
pub(crate) mod majority;
pub(crate) mod marked_copy;
pub(crate) mod marked_reversal;
pub(crate) mod missing_duplicate;
pub(crate) mod modular_arithmetic;
pub(crate) mod nested;
pub(crate) mod np_vp;
pub(crate) mod odds_first;
pub(crate) mod parity;
pub(crate) mod repeat_01;
pub(crate) mod stack_manipulation;
pub(crate) mod unmarked_reversal;
