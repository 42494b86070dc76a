//! A travel planner: it parses a request in plain English, calls tools, and answers with their results.
//!
//! The tools are a timetable, a forecast and bookings, based on two files. It only books what it is asked to book.

mod agent;
mod request;
mod tools;

use serde::{Deserialize, Serialize};

use tools::{Records, Tools};

pub use tools::Call;

/// The days of the data, starting today: today is always Wednesday.
const DAYS: [&str; 7] = ["Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday"];

/// The answer if the request contains no task.
const HELP: &str = "I can look up trains and the weather, and book seats. Where do you want to go?";

/// The planner.
#[derive(Debug)]
pub struct Planner {
    records: Records,
}

/// The planner's answer and its tool calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The answer to the traveller.
    pub answer: String,
    /// All tool calls, in order.
    pub trace: Vec<Call>,
}

impl Planner {
    /// A planner over the timetable and the forecast in `data/`.
    ///
    /// # Errors
    ///
    /// A data file is malformed.
    pub fn new() -> serde_json::Result<Self> {
        Ok(Self { records: Records::new()? })
    }

    /// Handles a request.
    #[must_use]
    pub fn answer(&self, request: &str) -> Reply {
        let mut tools = Tools::new(&self.records);
        let tasks = request::parse(request, &self.records.stations());
        let say = |task| agent::execute(task, &mut tools).unwrap_or_else(agent::apologize);
        let said: Vec<String> = tasks.iter().map(say).collect();
        let answer = if said.is_empty() { HELP.to_owned() } else { said.join("\n") };
        Reply { answer, trace: tools.calls }
    }
}
