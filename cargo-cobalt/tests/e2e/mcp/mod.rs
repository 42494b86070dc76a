//! `cargo cobalt mcp`: what an assistant is told, over stdin and stdout.

mod assistant;
mod cancel;
mod changes;
mod complete;
mod configured;
mod documented;
mod life;
mod list;
mod progress;
mod projects;
mod prompts;
mod resources;
mod run;
mod stored;
mod versions;
