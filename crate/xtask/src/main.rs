//! Every step a person or CI needs.
fn main() {}
