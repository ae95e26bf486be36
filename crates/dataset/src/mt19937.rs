//! NumPy's legacy generator.
