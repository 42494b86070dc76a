//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod configured;
mod documented;
mod life;
mod list;
mod projects;
mod prompts;
mod versions;
