//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod cancel;
mod compare;
mod configured;
mod documented;
mod generate;
mod large;
mod life;
mod list;
mod progress;
mod projects;
mod prompts;
mod results;
mod run;
mod schema;
mod versions;
