//! The plans that balance shards, in a temporary file for the test binaries.

use std::path::Path;
use std::{fs, io};

use cobalt::command::config::Config;
use cobalt_core::report::{ShardPlan, ShardPlans};
use cobalt_core::store::read_measurements;
use tempfile::NamedTempFile;

use crate::baseline::BaselineSource;
use crate::cli::RunName;
use crate::error::{CommandError, Error, ErrorKind, temp_folder_remedy};

/// The plans in a file.
pub fn read_plans(path: &Path) -> Result<ShardPlans, Error> {
    let text = fs::read(path).map_err(PlanError::File)?;
    serde_json::from_slice(&text).map_err(Error::Json)
}

/// The file with the plans of an invocation.
#[derive(Debug)]
pub struct PlanFile(NamedTempFile);

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("--balance needs the shard to run; add --shard, e.g. `--shard 1/4` or `--shard auto`")]
    NoShard,

    #[error("failed to access the temporary file with the plans of the shards: {}; {}", .0, temp_folder_remedy(.0))]
    File(io::Error),
}

impl CommandError for PlanError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoShard => ErrorKind::Arguments,
            Self::File(_) => ErrorKind::Setup,
        }
    }
}

impl PlanFile {
    /// The plans that expect the latencies of earlier runs. Experiments without such a run use their baselines.
    pub fn of_runs(name: &RunName, settings: &Config) -> Result<Self, Error> {
        if settings.shard().is_none() {
            return Err(PlanError::NoShard.into());
        }
        let given = BaselineSource::resolve(name, settings)?;
        let mut plans = ShardPlans::default();
        for path in given.files.iter().filter(|path| path.is_file()) {
            let run = read_measurements(path, settings.prices())?;
            let plan = ShardPlan::of(format!("run {}", run.id), &run);
            plans.0.entry(run.name).or_insert(plan);
        }
        Self::write(&plans)
    }

    pub fn write(plans: &ShardPlans) -> Result<Self, Error> {
        let file = Self(NamedTempFile::new().map_err(PlanError::File)?);
        file.replace(plans)?;
        Ok(file)
    }

    /// Replaces the plans.
    pub fn replace(&self, plans: &ShardPlans) -> Result<(), Error> {
        let text = serde_json::to_vec(plans).map_err(Error::Json)?;
        Ok(fs::write(self.path(), text).map_err(PlanError::File)?)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
