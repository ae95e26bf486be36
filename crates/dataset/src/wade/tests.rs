//! What must hold for every task, and agreement with values observed from the published generators.

mod golden;
mod properties;
