//! The table `[dashboard]`: where `cargo cobalt serve` shows the runs.

use std::ffi::OsString;

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

use super::merge::Merge;

/// Where `cargo cobalt serve` shows the runs, and how.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(super) struct Dashboard {
    /// The port that it listens on, 0 for any that is free; 4000, or the next that is free, unless it is set.
    port: Option<Port>,
    /// Whether it is opened in the browser at once; true unless it is set.
    open: Option<bool>,
}

/// A port: a whole number from 0 to 65535.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Port(u16);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Port;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a port from 0 to 65535")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Port, E> {
                let port = u16::try_from(number).map(Port);
                port.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

/// The settings of the dashboard that are in force.
#[derive(Clone, Copy, Debug)]
pub struct DashboardSettings {
    port: Option<u16>,
    open: bool,
}

impl DashboardSettings {
    /// The port where none is set.
    pub const DEFAULT_PORT: u16 = 4000;

    /// The port that is set, 0 for any that is free; `None` where it is not.
    #[must_use]
    pub fn port(self) -> Option<u16> {
        self.port
    }

    /// Whether it is opened in the browser at once.
    #[must_use]
    pub fn opens(self) -> bool {
        self.open
    }
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub(super) fn dashboard(&mut self, written: Dashboard) -> DashboardSettings {
        let Dashboard { port, open } = written;
        self.or_default("dashboard.port", port, || Port(DashboardSettings::DEFAULT_PORT));
        let open = self.or_default("dashboard.open", open, || true);
        DashboardSettings { port: port.map(|Port(port)| port), open }
    }
}
