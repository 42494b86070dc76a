//! What may be typed of `cargo cobalt mcp`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The folder of a project; may be given more than once [default: the current folder]
    ///
    /// The roots that the assistant tells of are projects, too, where they are in one of cargo's.
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Vec<PathBuf>,
}
