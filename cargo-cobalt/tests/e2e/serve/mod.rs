//! `cargo cobalt serve`: what its API answers.

#[cfg(unix)]
mod live;
mod runs;
mod server;
