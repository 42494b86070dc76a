//! A travel planner: it reads a request in plain words, calls tools for it, and answers with what they found.
//!
//! The tools are a timetable, a forecast, exchange rates and bookings, all over the files of a folder. It books nothing
//! that it is not asked to book.

mod agent;
mod clock;
mod records;
mod request;
mod task;
mod tools;
mod trace;
mod words;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use agent::Agent;
use records::Records;

pub use clock::Day;
pub use trace::Call;

/// What the planner says where it finds nothing to do.
const HELP: &str =
    "I can look up trains, the weather and exchange rates, and book seats. Where do you want to go?";

/// A planner that knows its records and what day it is.
#[derive(Debug)]
pub struct Planner {
    records: Records,
    today: Day,
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
    /// A planner over a folder with `trains.json`, `forecast.json` and `rates.json`.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or has not the form that it should have; the message names it.
    pub fn open(folder: &Path, today: Day) -> io::Result<Self> {
        Ok(Self { records: Records::read(folder)?, today })
    }

    /// Does what a request asks for.
    #[must_use]
    pub fn answer(&self, request: &str) -> Reply {
        let mut agent = Agent::new(&self.records, self.today);
        let tasks = request::read(request, &self.records.stations(), self.today);
        let said: Vec<String> = tasks.iter().map(|task| agent.carry_out(task)).collect();
        let answer = if said.is_empty() { HELP.to_owned() } else { said.join("\n") };
        Reply { answer, trace: agent.into_calls() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(request: &str) -> Reply {
        Planner { records: records::example(), today: Day::Wednesday }.answer(request)
    }

    fn tools(reply: &Reply) -> Vec<&str> {
        reply.trace.iter().map(|call| &*call.tool).collect()
    }

    #[test]
    fn what_one_tool_finds_is_what_the_next_is_called_with() {
        let reply = answer("The cheapest train from Leads to London on Friday in euros. Book it.");
        assert_eq!(tools(&reply), ["find_station", "search_trains", "book_seats", "convert_currency"]);
        assert_eq!(reply.trace[1].arguments["from"], "Leeds");
        assert_eq!(reply.trace[2].arguments["train"], "LK4");
        assert_eq!(reply.trace[3].arguments["amount"], 31.0);
        assert_eq!(
            reply.answer,
            "Train LK4 from Leeds to London leaves at 19:15 on Friday, arrives at 21:33 and costs £31.00 (35.96 EUR). \
             It is booked: LK4-Friday-1."
        );
    }

    #[test]
    fn where_no_train_runs_the_next_day_is_proposed_and_not_booked() {
        let reply = answer("Book a train from Newcastle to Edinburgh on Sunday");
        assert_eq!(tools(&reply), ["search_trains", "search_trains"]);
        assert!(reply.answer.starts_with("Sorry, no train that fits"), "{}", reply.answer);
        assert!(reply.answer.ends_with("I have not booked it, as it is another day."), "{}", reply.answer);
    }

    #[test]
    fn where_seats_are_too_few_the_next_best_train_is_booked() {
        let reply = answer("Book the cheapest train from Leeds to York on Friday for two");
        assert_eq!(tools(&reply), ["search_trains", "book_seats", "book_seats"]);
        assert!(reply.answer.ends_with("It is booked: LY5-Friday-2."), "{}", reply.answer);
    }

    #[test]
    fn a_booking_is_told_even_where_its_price_cannot_be_converted() {
        let mut planner = Planner { records: records::example(), today: Day::Wednesday };
        planner.records.rates.remove("CHF");
        let reply = planner.answer("Book a train from London to Bath tomorrow. What is the price in francs?");
        assert!(reply.answer.contains("(there is no rate for CHF)"), "{}", reply.answer);
        assert!(reply.answer.ends_with("It is booked: LA1-Thursday-1."), "{}", reply.answer);
    }

    #[test]
    fn without_a_direct_train_no_other_day_is_tried() {
        let reply = answer("A train from York to Paris on Friday");
        assert_eq!(tools(&reply), ["search_trains"]);
        assert_eq!(reply.answer, "Sorry, no direct train goes from York to Paris.");
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        assert_eq!(answer("A train to York").answer, "Where do you want to travel from?");
        assert_eq!(answer("A train from York").answer, "Where do you want to travel to?");
        assert_eq!(answer("How is the weather?").answer, "Where do you want to know the weather?");
        assert_eq!(answer("Hello!").answer, HELP);
    }
}
