//! Networks of minimum description length outside of experiments: files, scores, tests, and searches on several threads.

mod certify;
mod corpus;
mod file;
mod search;
mod test;

pub use certify::{CERTIFIABLE, Certificate, certify};
pub use corpus::{CorpusRequest, WeightedStrings};
pub use file::{NetworkFile, read_network};
pub use search::{SearchEvent, SearchRequest, Searched, search, search_settings};
pub use test::{FactorScore, test_factors};
pub use wug_learner::mdl::{
    ACTIVATION_SETS, MdlNetwork, MdlObjective, NetworkModel, NetworkScore, Outputs, UnitActivation, UnitKind,
    activations_named, score, score_in,
};
