//! How the test binaries are to be built.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How cargo is to build, in cargo's own words.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Cargo options")]
pub(crate) struct Build {
    /// Packages whose experiments are meant, by name or by a pattern with `*`, `?` or `[…]`; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub(crate) package: Vec<String>,

    /// All packages of the workspace, wherever the command is started
    #[arg(long)]
    pub(crate) workspace: bool,

    /// Packages to leave out, by name or by pattern
    #[arg(long, value_name = "NAME")]
    pub(crate) exclude: Vec<String>,

    /// Test targets by name; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Vec<String>,

    /// Features to turn on
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub(crate) features: Vec<String>,

    /// Turns all features on
    #[arg(long)]
    pub(crate) all_features: bool,

    /// Leaves the default features off
    #[arg(long)]
    pub(crate) no_default_features: bool,

    /// Builds with optimisations
    #[arg(short, long)]
    pub(crate) release: bool,

    /// Builds with this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Builds for this platform
    ///
    /// The binaries are started as they are: a `runner` of cargo's configuration is not used.
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,

    /// Where cargo puts what it builds
    #[arg(long, value_name = "PATH")]
    pub(crate) target_dir: Option<PathBuf>,

    /// The manifest of the project, instead of that of the current folder
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<PathBuf>,

    /// How what the compiler says is printed: for people on stderr or, as `json`, each message in a line of stdout as cargo has it
    #[arg(long, value_name = "FORMAT", default_value = "human", hide_default_value = true)]
    pub(crate) message_format: MessageFormat,

    /// How many jobs cargo runs at a time
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<String>,

    /// Refuses to change Cargo.lock
    #[arg(long)]
    pub(crate) locked: bool,

    /// Refuses to use the network while it builds, and uses the copies of data sets that were fetched before
    ///
    /// The experiments themselves may use the network.
    #[arg(long)]
    pub(crate) offline: bool,

    /// Both of these, --locked and --offline
    #[arg(long)]
    pub(crate) frozen: bool,
}

impl Build {
    /// Whether nothing is to be fetched, by either of the flags that say so.
    pub(crate) fn is_offline(&self) -> bool {
        self.offline || self.frozen
    }
}

/// How what the compiler says is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// For people, on stderr.
    #[default]
    Human,
    /// For programs, on stdout.
    Json,
}
