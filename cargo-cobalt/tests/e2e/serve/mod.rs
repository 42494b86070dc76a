//! `cargo cobalt serve`: access control, API responses, startup and shutdown, and links from `run`.

mod events;
mod files;
mod guard;
#[cfg(unix)]
mod jobs;
mod life;
#[cfg(unix)]
mod live;
mod ranking;
#[cfg(unix)]
mod run;
mod runs;
mod server;
mod token;
mod writes;
