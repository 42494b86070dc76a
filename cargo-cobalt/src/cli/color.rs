//! When colours are used.

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// Where a terminal reads, and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

impl Color {
    /// Sets it for all that this program prints.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// As cargo's flag has it, where that is not left to cargo.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Always => Some("always"),
            Self::Never => Some("never"),
        }
    }
}
