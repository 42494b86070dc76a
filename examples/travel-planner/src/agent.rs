//! Executes a task: calls tools, passes results on to the next tool, and phrases the answer.

use crate::DAYS;
use crate::request::Task;
use crate::tools::{Tools, Train};

/// The answer for a failed tool call.
pub(crate) fn apologize(error: String) -> String {
    format!("Sorry, {error}.")
}

/// Executes a task and returns the answer. An unknown place is an error; any other failure is part of the answer.
pub(crate) fn execute(task: &Task, tools: &mut Tools<'_>) -> Result<String, String> {
    let from = match &task.from {
        Some(from) if task.train => tools.find_station(from)?,
        None if task.train => return Ok("Where do you want to travel from?".to_owned()),
        _ => String::new(),
    };
    let Some(place) = &task.place else { return Ok("Where do you want to go?".to_owned()) };
    let (place, day) = (tools.find_station(place)?, task.day.unwrap_or(DAYS[0]));
    let mut said = Vec::new();
    if task.train {
        said.push(plan_trip(task, tools, &from, &place, day).unwrap_or_else(apologize));
    }
    if task.weather {
        let weather = tools.weather(&place, day);
        said.push(weather.map_or_else(apologize, |weather| format!("{place} on {day}: {weather}.")));
    }
    Ok(said.join(" "))
}

/// Suggests the best train, or books the best one with enough free seats.
fn plan_trip(task: &Task, tools: &mut Tools<'_>, from: &str, to: &str, day: &str) -> Result<String, String> {
    let mut trains = tools.search_trains(from, to, day)?;
    if task.last {
        trains.reverse();
    }
    if task.cheapest {
        trains.sort_by(|a, b| a.fare.total_cmp(&b.fare));
    }
    if !task.book {
        return Ok(describe(&trains[0], task.seats(), day));
    }
    let mut said = Vec::new();
    for train in &trains {
        match tools.book_seats(train, day, task.seats()) {
            Ok(reference) => {
                said.push(describe(train, task.seats(), day));
                said.push(format!("It is booked: {reference}."));
                break;
            }
            Err(error) => said.push(apologize(error)),
        }
    }
    Ok(said.join(" "))
}

fn describe(train: &Train, seats: u32, day: &str) -> String {
    let Train { train, from, to, departs, arrives, fare, .. } = train;
    let price = fare * f64::from(seats);
    format!(
        "Train {train} leaves {from} at {departs} on {day}, is in {to} at {arrives} and costs £{price:.2}."
    )
}

#[cfg(test)]
mod tests {
    use crate::{Planner, Reply};

    fn answer(request: &str) -> Reply {
        Planner::new().unwrap().answer(request)
    }

    #[test]
    fn what_one_tool_finds_is_what_the_next_is_called_with() {
        let Reply { answer, trace } =
            answer("Book the cheapest train from Leads to London on Friday for two.");
        let tools: Vec<_> = trace.iter().map(|call| &*call.tool).collect();
        assert_eq!(tools, ["find_station", "search_trains", "book_seats"]);
        assert_eq!(trace[1].arguments["from"], "Leeds");
        assert_eq!(trace[2].arguments["train"], "LK4");
        assert!(answer.contains("£62.00. It is booked: LK4-Friday-2."), "{answer}");
    }

    #[test]
    fn where_seats_are_too_few_the_next_best_train_is_booked() {
        let Reply { answer, trace } = answer("Book the cheapest train from Leeds to York on Friday for two");
        assert_eq!(trace[1].error.as_deref(), Some("too few seats are free in train LY3"));
        assert!(answer.ends_with("It is booked: LY5-Friday-2."), "{answer}");
    }

    #[test]
    fn one_failure_does_not_keep_back_the_rest() {
        let answer = answer("A train from York to Paris and the weather there. Weather in Atlantis?").answer;
        let expected = "Sorry, no direct train goes from York to Paris on Wednesday. \
                        Paris on Wednesday: heavy rain.\nSorry, no station is called Atlantis.";
        assert_eq!(answer, expected);
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        assert_eq!(answer("A train to York").answer, "Where do you want to travel from?");
        assert_eq!(answer("How is the weather?").answer, "Where do you want to go?");
    }
}
