//! `cargo cobalt serve`: who may ask, what its API answers, how it begins and ends, and how `run` leads there.

mod events;
mod files;
mod guard;
mod life;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod run;
mod runs;
mod server;
mod token;
