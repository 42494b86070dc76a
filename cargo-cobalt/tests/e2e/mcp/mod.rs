//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod generate;
mod list;
