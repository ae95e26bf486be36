//! What must hold for every task, agreement with values observed from the published generators, and files.

mod files;
mod golden;
mod properties;
