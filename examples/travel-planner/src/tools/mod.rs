//! The tools: each is a type whose fields are the arguments of a call.

mod book_seats;
mod convert_currency;
mod find_station;
mod search_trains;
mod weather;

use serde::Serialize;

use crate::clock::Day;
use crate::records::Records;

pub(crate) use book_seats::BookSeats;
pub(crate) use convert_currency::ConvertCurrency;
pub(crate) use find_station::FindStation;
pub(crate) use search_trains::{Offer, SearchTrains};
pub(crate) use weather::Weather;

/// A call of a tool: it is made once, and recorded with its arguments.
pub(crate) trait Tool: Serialize {
    /// What the tool is called in a trace.
    const NAME: &'static str;
    /// What it finds.
    type Answer: Serialize;

    fn call(&self, records: &Records) -> Result<Self::Answer, ToolError>;
}

/// Why a tool has no answer. The planner quotes it, so that it is told to the traveller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ToolError {
    #[error("no station is called {0}")]
    UnknownStation(String),
    #[error("no direct train goes from {from} to {to}")]
    NoRoute { from: String, to: String },
    #[error("no train that fits goes from {from} to {to} on {day}")]
    NoTrain { from: String, to: String, day: Day },
    #[error("no train {train} runs on {day}")]
    DoesNotRun { train: String, day: Day },
    #[error("too few seats are free in train {train} on {day}: {left}")]
    TooFewSeats { train: String, day: Day, left: u32 },
    #[error("there is no forecast for {place} on {day}")]
    NoForecast { place: String, day: Day },
    #[error("there is no rate for {0}")]
    UnknownCurrency(String),
}

/// Money has no fractions of a penny.
fn to_pennies(amount: f64) -> f64 {
    (100.0 * amount).round() / 100.0
}
