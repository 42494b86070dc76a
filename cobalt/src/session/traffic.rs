//! The model traffic of a run: whether it passes through the gateway, which is started here with the settings of the project.

use std::sync::Arc;

use cobalt_core::item::ItemKeys;

use crate::config::Config;
#[cfg(feature = "record")]
use crate::recording::ExperimentTraffic;
#[cfg(feature = "record")]
use crate::recording::{Gateway, GatewaySettings, RecordMode};
use crate::recording::{ResolvedRecording, RunTraffic};

/// The gateway of this process, with the settings of a project; started on first use.
#[cfg(feature = "record")]
pub fn gateway(config: &Config) -> Result<Arc<Gateway>, String> {
    let (prices, limits) = (config.prices(), config.limits());
    Gateway::shared(&GatewaySettings { prices, limits, limits_folder: config.layout().limits() })
}

/// Starts the traffic of an experiment; `None` if its traffic does not pass through the gateway.
#[cfg(feature = "record")]
pub fn start(
    name: &str,
    settings: &ResolvedRecording,
    keys: &Arc<ItemKeys>,
    runs: usize,
    config: &Config,
) -> Result<Option<Arc<RunTraffic>>, String> {
    if settings.mode == RecordMode::Off && Gateway::running().is_none() && !config.limits_requests() {
        return Ok(None);
    }
    let experiment = ExperimentTraffic::new(name, settings.clone(), Arc::clone(keys), runs);
    Ok(Some(Arc::new(RunTraffic::new(gateway(config)?, experiment))))
}

/// Nothing passes through a gateway without the feature.
#[cfg(not(feature = "record"))]
pub fn start(
    _: &str,
    _: &ResolvedRecording,
    _: &Arc<ItemKeys>,
    _: usize,
    _: &Config,
) -> Result<Option<Arc<RunTraffic>>, String> {
    Ok(None)
}
