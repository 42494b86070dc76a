//! A travel planner: it reads a request in plain words, calls tools for it, and answers with what they found.
//!
//! The tools are a timetable, a forecast and bookings, all over two files. It books nothing that it is not asked to
//! book.

mod agent;
mod request;
mod tools;

use serde::{Deserialize, Serialize};

use tools::{Records, Tools};

pub use tools::Call;

/// The days that the planner knows, from today on: in its data it is always Wednesday.
const DAYS: [&str; 7] = ["Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday"];

/// What the planner says where it finds nothing to do.
const HELP: &str = "I can look up trains and the weather, and book seats. Where do you want to go?";

/// A planner that knows its records.
#[derive(Debug)]
pub struct Planner {
    records: Records,
}

/// What the planner says, and the calls that it made for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// For the traveller.
    pub answer: String,
    /// Every call of a tool, in order.
    pub trace: Vec<Call>,
}

impl Planner {
    /// A planner over the timetable and the forecast in `data/`.
    ///
    /// # Errors
    ///
    /// A file has not the form that it should have.
    pub fn new() -> serde_json::Result<Self> {
        Ok(Self { records: Records::new()? })
    }

    /// Does what a request asks for.
    #[must_use]
    pub fn answer(&self, request: &str) -> Reply {
        let mut tools = Tools::new(&self.records);
        let tasks = request::read(request, &self.records.stations());
        let say = |task| agent::carry_out(task, &mut tools).unwrap_or_else(agent::sorry);
        let said: Vec<String> = tasks.iter().map(say).collect();
        let answer = if said.is_empty() { HELP.to_owned() } else { said.join("\n") };
        Reply { answer, trace: tools.calls }
    }
}
