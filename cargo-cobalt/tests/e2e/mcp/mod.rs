//! `cargo cobalt mcp`: the MCP server over stdin and stdout.

pub(crate) mod assistant;
mod cancel;
mod changes;
mod compare;
mod complete;
mod configured;
mod documented;
mod generate;
mod large;
mod life;
mod list;
mod listed;
mod progress;
mod projects;
mod prompts;
mod resources;
mod results;
mod run;
mod schema;
mod snapshot;
mod stored;
mod versions;
