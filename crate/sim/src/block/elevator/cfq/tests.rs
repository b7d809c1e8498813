//! Worked examples of sections 2 and 10.
