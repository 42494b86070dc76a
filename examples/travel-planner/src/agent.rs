//! Carries out tasks: it calls tools, uses what one finds for the next, and puts what comes of it into words.

use crate::clock::Day;
use crate::records::Records;
use crate::task::{Choice, Kind, Task};
use crate::tools::{BookSeats, ConvertCurrency, FindStation, Offer, SearchTrains, ToolError, Weather};
use crate::trace::{Call, Toolbox};

/// Works on the tasks of one request.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    stations: Vec<&'a str>,
    today: Day,
    tools: Toolbox<'a>,
}

impl<'a> Agent<'a> {
    pub(crate) fn new(records: &'a Records, today: Day) -> Self {
        Self { stations: records.stations(), today, tools: Toolbox::new(records) }
    }

    /// Carries out a task, and says what came of it. A failed tool is not the end: it is told.
    pub(crate) fn carry_out(&mut self, task: &Task) -> String {
        let outcome = match task.kind {
            Some(Kind::Journey) => self.journey(task),
            Some(Kind::Weather) => self.weather(task),
            Some(Kind::Exchange) => self.exchange(task),
            None => Ok(String::new()),
        };
        outcome.unwrap_or_else(|error| sorry(&error))
    }

    pub(crate) fn into_calls(self) -> Vec<Call> {
        self.tools.into_calls()
    }

    fn journey(&mut self, task: &Task) -> Result<String, ToolError> {
        let (from, to) = match (&task.from, &task.to) {
            (Some(from), Some(to)) => (self.station(from)?, self.station(to)?),
            (None, _) => return Ok("Where do you want to travel from?".to_owned()),
            (_, None) => return Ok("Where do you want to travel to?".to_owned()),
        };
        let wanted = task.day.unwrap_or(self.today);
        let mut said = Vec::new();
        for day in [wanted, wanted.next()] {
            match self.search(task, &from, &to, day) {
                Ok(offers) if task.book && day == wanted => {
                    said.push(self.book(task, &offers));
                    break;
                }
                Ok(offers) => {
                    said.push(self.propose(task, &offers[0]));
                    if task.book {
                        said.push("I have not booked it, as it is another day.".to_owned());
                    }
                    break;
                }
                Err(error @ ToolError::NoTrain { .. }) => said.push(sorry(&error)),
                Err(error) => return Err(error),
            }
        }
        Ok(said.join(" "))
    }

    /// The trains of a day, the best choice first. There is at least one.
    fn search(&mut self, task: &Task, from: &str, to: &str, day: Day) -> Result<Vec<Offer>, ToolError> {
        let mut offers = self.tools.call(SearchTrains {
            from: from.to_owned(),
            to: to.to_owned(),
            day,
            seats: seats(task),
            after: task.after,
            before: task.before,
        })?;
        match task.choice.unwrap_or(Choice::Earliest) {
            Choice::Earliest => {}
            Choice::Latest => offers.reverse(),
            Choice::Cheapest => offers.sort_by(|a, b| a.price.total_cmp(&b.price)),
            Choice::Fastest => offers.sort_by_key(|offer| offer.arrives.minutes_since(offer.departs)),
        }
        Ok(offers)
    }

    /// Books the best train that has the seats.
    fn book(&mut self, task: &Task, offers: &[Offer]) -> String {
        let mut said = Vec::new();
        for offer in offers {
            let Offer { train, day, .. } = offer.clone();
            match self.tools.call(BookSeats { train, day, seats: seats(task) }) {
                Ok(reference) => {
                    said.push(self.propose(task, offer));
                    said.push(format!("It is booked: {reference}."));
                    break;
                }
                Err(error) => said.push(sorry(&error)),
            }
        }
        said.join(" ")
    }

    /// Tells of a train. Without a rate it still has a price in pounds.
    fn propose(&mut self, task: &Task, offer: &Offer) -> String {
        let Offer { train, from, to, day, departs, arrives, price } = offer;
        let mut said = format!(
            "Train {train} from {from} to {to} leaves at {departs} on {day}, arrives at {arrives} and costs £{price:.2}"
        );
        if let Some(code) = task.currency {
            said += &match self.convert(*price, "GBP", code) {
                Ok(converted) => format!(" ({converted:.2} {code})"),
                Err(error) => format!(" ({error})"),
            };
        }
        match seats(task) {
            1 => said + ".",
            seats => format!("{said} for {seats}."),
        }
    }

    fn weather(&mut self, task: &Task) -> Result<String, ToolError> {
        let Some(place) = &task.at else { return Ok("Where do you want to know the weather?".to_owned()) };
        let (place, day) = (self.station(place)?, task.day.unwrap_or(self.today));
        let outlook = self.tools.call(Weather { place: place.clone(), day })?;
        Ok(format!("{place} on {day}: {}, {} to {} °C.", outlook.sky, outlook.low, outlook.high))
    }

    fn exchange(&mut self, task: &Task) -> Result<String, ToolError> {
        let (Some((amount, from)), Some(to)) = (task.amount, task.currency) else {
            return Ok("I can exchange pounds, euros, dollars and francs. Which do you want?".to_owned());
        };
        let converted = self.convert(amount, from, to)?;
        Ok(format!("{amount:.2} {from} are {converted:.2} {to}."))
    }

    fn convert(&mut self, amount: f64, from: &str, to: &str) -> Result<f64, ToolError> {
        self.tools.call(ConvertCurrency { amount, from: from.to_owned(), to: to.to_owned() })
    }

    /// The station of a name. Only a name that none has must be looked up.
    fn station(&mut self, name: &str) -> Result<String, ToolError> {
        if self.stations.contains(&name) {
            return Ok(name.to_owned());
        }
        self.tools.call(FindStation { name: name.to_owned() })
    }
}

fn seats(task: &Task) -> u32 {
    task.seats.unwrap_or(1)
}

fn sorry(error: &ToolError) -> String {
    format!("Sorry, {error}.")
}
