//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod cancel;
mod compare;
mod generate;
mod large;
mod life;
mod list;
mod progress;
mod projects;
mod results;
mod run;
mod schema;
mod versions;
