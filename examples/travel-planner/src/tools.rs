//! The tools, and a trace of their calls.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One edit is tolerated per three letters.
const LETTERS_PER_TYPO: usize = 3;

/// A tool call in the trace, with a result or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The tool's name, such as `search_trains`.
    pub tool: String,
    /// The arguments, as an object.
    pub arguments: Value,
    /// The tool's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The data behind the tools.
#[derive(Debug)]
pub(crate) struct Records {
    /// Per route, earliest first.
    trains: Vec<Train>,
    /// The weather by place and day.
    forecast: BTreeMap<String, BTreeMap<String, String>>,
}

/// A train in the timetable.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Train {
    pub(crate) train: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) departs: String,
    pub(crate) arrives: String,
    /// Per traveller, in pounds.
    pub(crate) fare: f64,
    /// Free seats per day. Only bookings use it.
    #[serde(skip_serializing)]
    seats: u32,
    #[serde(default, skip_serializing)]
    not_on: BTreeSet<String>,
}

impl Records {
    pub(crate) fn new() -> serde_json::Result<Self> {
        let trains = serde_json::from_str(include_str!("../data/trains.json"))?;
        Ok(Self { trains, forecast: serde_json::from_str(include_str!("../data/forecast.json"))? })
    }

    pub(crate) fn stations(&self) -> Vec<&str> {
        self.trains.iter().flat_map(|train| [&*train.from, &*train.to]).collect()
    }
}

/// Executes and records tool calls. An error is a reason to report to the traveller.
#[derive(Debug)]
pub(crate) struct Tools<'a> {
    records: &'a Records,
    pub(crate) calls: Vec<Call>,
}

impl<'a> Tools<'a> {
    pub(crate) fn new(records: &'a Records) -> Self {
        Self { records, calls: Vec::new() }
    }

    /// The station with this name, or the closest match of a misspelt one. Only the latter is recorded as a call.
    pub(crate) fn find_station(&mut self, name: &str) -> Result<String, String> {
        let stations = self.records.stations();
        if stations.contains(&name) {
            return Ok(name.to_owned());
        }
        let slips = |station: &str| strsim::damerau_levenshtein(name, station);
        let nearest = stations.into_iter().min_by_key(|station| slips(station));
        let near = nearest.filter(|station| slips(station) <= name.chars().count() / LETTERS_PER_TYPO);
        let found = near.map(str::to_owned).ok_or_else(|| format!("no station is called {name}"));
        self.record("find_station", json!({ "name": name }), found)
    }

    /// The direct trains of a day, earliest first. Never empty.
    pub(crate) fn search_trains(&mut self, from: &str, to: &str, day: &str) -> Result<Vec<Train>, String> {
        let fits = |train: &&Train| train.from == from && train.to == to && !train.not_on.contains(day);
        let trains: Vec<Train> = self.records.trains.iter().filter(fits).cloned().collect();
        let none = || format!("no direct train goes from {from} to {to} on {day}");
        let found = if trains.is_empty() { Err(none()) } else { Ok(trains) };
        self.record("search_trains", json!({ "from": from, "to": to, "day": day }), found)
    }

    /// The weather at a place.
    pub(crate) fn weather(&mut self, place: &str, day: &str) -> Result<String, String> {
        let weather = self.records.forecast.get(place).and_then(|days| days.get(day)).cloned();
        let found = weather.ok_or_else(|| format!("there is no forecast for {place} on {day}"));
        self.record("weather", json!({ "place": place, "day": day }), found)
    }

    /// Books seats and returns the booking reference. As this is an example, the seats stay free.
    pub(crate) fn book_seats(&mut self, train: &Train, day: &str, seats: u32) -> Result<String, String> {
        let Train { train, seats: free, .. } = train;
        let booked = if seats <= *free {
            Ok(format!("{train}-{day}-{seats}"))
        } else {
            Err(format!("too few seats are free in train {train}"))
        };
        self.record("book_seats", json!({ "train": train, "day": day, "seats": seats }), booked)
    }

    fn record<T: Serialize>(
        &mut self,
        tool: &str,
        arguments: Value,
        outcome: Result<T, String>,
    ) -> Result<T, String> {
        let (result, error) =
            (outcome.as_ref().ok().map(|found| json!(found)), outcome.as_ref().err().cloned());
        self.calls.push(Call { tool: tool.to_owned(), arguments, result, error });
        outcome
    }
}
