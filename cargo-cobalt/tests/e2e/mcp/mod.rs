//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod life;
mod list;
mod projects;
mod versions;
