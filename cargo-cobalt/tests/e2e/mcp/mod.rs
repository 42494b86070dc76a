//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod cancel;
mod configured;
mod documented;
mod generate;
mod life;
mod list;
mod progress;
mod projects;
mod prompts;
mod run;
mod versions;
