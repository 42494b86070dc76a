//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod cancel;
mod list;
mod progress;
mod run;
