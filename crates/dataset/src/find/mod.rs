//! The ambiguous transduction tasks of Kharitonov and Chaabouni (2021), and SCAN.
