//! Memory-efficient corpora of Lan, Chemla and Katzir (2023).
