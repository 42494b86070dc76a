//! The report of a run that was found.

use cobalt::Report;
use cobalt::llm::prices::PriceTable;
use cobalt::store::{read_measurements, read_report};

use super::FoundRun;
use crate::error::Error;

/// Reads the report of a run. A baseline, which a name may mean, is none.
pub(crate) fn report_of(run: &FoundRun, prices: &PriceTable) -> Result<Report, Error> {
    match read_report(&run.path) {
        Ok(report) => Ok(report),
        Err(_) if read_measurements(&run.path, prices).is_ok() => {
            let reason = "it is a baseline, with the numbers of a run alone; name the run itself".to_owned();
            Err(Error::RunFile { path: run.path.clone(), reason })
        }
        Err(error) => Err(error.into()),
    }
}
