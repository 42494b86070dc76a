//! What a request comes down to: tasks, one after another, each with what was said of it.

use crate::clock::{Day, Time};

/// What kind of thing is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Journey,
    Weather,
    Exchange,
}

/// Which of several trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Earliest,
    Latest,
    Cheapest,
    Fastest,
}

/// One thing that is wanted. Places are named as the traveller wrote them where no station is called so.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    /// `None` while it is not clear yet.
    pub(crate) kind: Option<Kind>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// A place that is neither where the journey begins nor where it ends.
    pub(crate) at: Option<String>,
    pub(crate) day: Option<Day>,
    pub(crate) after: Option<Time>,
    pub(crate) before: Option<Time>,
    pub(crate) seats: Option<u32>,
    pub(crate) choice: Option<Choice>,
    /// Whether the traveller asks for a booking.
    pub(crate) book: bool,
    pub(crate) amount: Option<(f64, &'static str)>,
    /// The currency that prices or the amount are wanted in.
    pub(crate) currency: Option<&'static str>,
}

impl Task {
    /// Takes what was not said from the task before: people do not say again what is clear.
    fn complete(&mut self, neighbour: &Self) {
        self.day = self.day.or(neighbour.day);
        self.seats = self.seats.or(neighbour.seats);
        self.choice = self.choice.or(neighbour.choice);
        let end = || neighbour.to.clone().or_else(|| neighbour.at.clone());
        match self.kind {
            Some(Kind::Weather) => self.at = self.at.take().or_else(end),
            Some(Kind::Journey) if neighbour.kind == Some(Kind::Weather) => {
                self.to = self.to.take().or_else(end);
            }
            Some(Kind::Journey) => self.from = self.from.take().or_else(end),
            _ => {}
        }
    }
}

/// Completes each task from the one before it, and the first from the one behind it.
pub(crate) fn complete(mut tasks: Vec<Task>) -> Vec<Task> {
    tasks.retain(|task| task.kind.is_some());
    for index in 0..tasks.len() {
        let neighbour = if index == 0 { tasks.get(1) } else { tasks.get(index - 1) };
        if let Some(neighbour) = neighbour.cloned() {
            tasks[index].complete(&neighbour);
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journey(from: Option<&str>, to: Option<&str>) -> Task {
        let [from, to] = [from, to].map(|place| place.map(str::to_owned));
        Task { kind: Some(Kind::Journey), from, to, ..Task::default() }
    }

    fn weather(at: Option<&str>) -> Task {
        Task { kind: Some(Kind::Weather), at: at.map(str::to_owned), ..Task::default() }
    }

    #[test]
    fn there_is_where_the_journey_ends() {
        let tasks = complete(vec![journey(Some("Leeds"), Some("York")), weather(None)]);
        assert_eq!(tasks[1].at.as_deref(), Some("York"));
        let tasks = complete(vec![weather(None), journey(Some("Leeds"), Some("York"))]);
        assert_eq!(tasks[0].at.as_deref(), Some("York"));
    }

    #[test]
    fn a_journey_goes_to_where_the_weather_was_asked_for() {
        let tasks = complete(vec![weather(Some("Oxford")), journey(Some("London"), None)]);
        assert_eq!(tasks[1].to.as_deref(), Some("Oxford"));
    }

    #[test]
    fn a_second_journey_begins_where_the_first_ends_and_is_on_the_same_day() {
        let first = Task { day: Some(Day::Friday), ..journey(Some("Leeds"), Some("York")) };
        let tasks = complete(vec![first, journey(None, Some("Newcastle"))]);
        assert_eq!((tasks[1].from.as_deref(), tasks[1].day), (Some("York"), Some(Day::Friday)));
    }

    #[test]
    fn a_booking_is_not_taken_from_another_task() {
        let first = Task { book: true, ..journey(Some("Leeds"), Some("York")) };
        assert!(!complete(vec![first, journey(Some("York"), Some("Leeds"))])[1].book);
    }
}
