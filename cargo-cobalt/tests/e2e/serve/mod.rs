//! `cargo cobalt serve`: who may ask, what is served, how it begins and ends, and how `run` leads there.

mod files;
mod guard;
mod life;
#[cfg(unix)]
mod run;
mod server;
mod token;
