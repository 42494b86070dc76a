//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod cancel;
mod life;
mod list;
mod progress;
mod projects;
mod run;
mod versions;
