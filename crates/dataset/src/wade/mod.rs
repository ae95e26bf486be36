//! The ten incremental tasks of Cisneros, Sivic and Mikolov (2022).
