//! `cargo cobalt serve`: access control, API responses, startup and shutdown, and links from `run`.

mod events;
mod experiments;
mod files;
mod guard;
mod items;
#[cfg(unix)]
mod jobs;
mod life;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod media;
mod parts;
mod ranking;
mod remote;
#[cfg(unix)]
mod run;
mod runs;
mod server;
mod token;
mod writes;
