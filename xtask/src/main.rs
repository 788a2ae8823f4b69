//! Workspace driver.
fn main() {}
