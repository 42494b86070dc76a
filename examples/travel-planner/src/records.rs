//! What the tools look things up in: a folder with a timetable, a forecast and exchange rates.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::clock::{Day, Time};

/// All that the tools know.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) trains: Vec<Train>,
    pub(crate) forecast: Vec<Forecast>,
    /// What a pound is worth, by the code of the currency.
    pub(crate) rates: BTreeMap<String, f64>,
}

/// A train as the timetable has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Train {
    pub(crate) train: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) departs: Time,
    pub(crate) arrives: Time,
    /// For one traveller, in pounds.
    pub(crate) fare: f64,
    /// How many are free, on each day.
    pub(crate) seats: u32,
    #[serde(default)]
    pub(crate) not_on: Vec<Day>,
}

/// The weather of a day, with the lowest and the highest temperature in °C.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forecast {
    pub(crate) place: String,
    pub(crate) day: Day,
    pub(crate) sky: String,
    pub(crate) low: i32,
    pub(crate) high: i32,
}

impl Records {
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            trains: read_json(&folder.join("trains.json"))?,
            forecast: read_json(&folder.join("forecast.json"))?,
            rates: read_json(&folder.join("rates.json"))?,
        })
    }

    /// The stations of the timetable, by name, each once.
    pub(crate) fn stations(&self) -> Vec<&str> {
        let mut stations: Vec<&str> =
            self.trains.iter().flat_map(|train| [&*train.from, &*train.to]).collect();
        stations.sort_unstable();
        stations.dedup();
        stations
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let about = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(about)?;
    serde_json::from_str(&text).map_err(|error| about(error.into()))
}

/// The records of the example, for the tests of what reads them.
#[cfg(test)]
pub(crate) fn example() -> Records {
    Records::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data")).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Records::read(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().starts_with("no/such/folder/trains.json: "), "{error}");
    }

    #[test]
    fn every_train_arrives_after_it_departs() {
        for train in example().trains {
            assert!(train.departs < train.arrives, "{}", train.train);
        }
    }

    #[test]
    fn every_number_of_a_train_is_given_once() {
        let mut numbers: Vec<String> = example().trains.into_iter().map(|train| train.train).collect();
        let all = numbers.len();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }
}
