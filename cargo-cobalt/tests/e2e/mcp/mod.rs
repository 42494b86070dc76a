//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod compare;
mod large;
mod list;
mod results;
mod schema;
