//! Parses a request: splits it into clauses, each of which is a task or extends the previous one.

use crate::DAYS;

const TRAIN: [&str; 6] = ["train", "trains", "travel", "go", "tickets", "seats"];
const WEATHER: [&str; 6] = ["weather", "forecast", "rain", "umbrella", "sunny", "warm"];
const BOOK: [&str; 3] = ["book", "reserve", "buy"];
/// Words that may precede an imperative: "could you please book …".
const POLITE: [&str; 4] = ["please", "can", "could", "you"];
/// If one of these words is in the request, nothing is booked: a missing booking is easier to fix than an unwanted one.
const CAUTION: [&str; 8] = ["not", "don't", "never", "nothing", "if", "unless", "how", "myself"];
const NUMBERS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

/// A task: a train to a place, the weather there, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    pub(crate) train: bool,
    pub(crate) weather: bool,
    /// Whether the traveller asks for a booking.
    pub(crate) book: bool,
    pub(crate) cheapest: bool,
    pub(crate) last: bool,
    pub(crate) from: Option<String>,
    /// The destination, or the place of the weather; as typed if it is not a known station.
    pub(crate) place: Option<String>,
    pub(crate) day: Option<&'static str>,
    pub(crate) seats: Option<u32>,
}

/// Parses the tasks of a request. `stations` are those of the timetable.
pub(crate) fn parse(text: &str, stations: &[&str]) -> Vec<Task> {
    let cautious = words(text).iter().any(|word| CAUTION.contains(&&*word.to_lowercase()));
    let mut tasks: Vec<Task> = Vec::new();
    for sentence in text.split(['.', '?', '!']) {
        for clause in words(sentence).split(|word| ["and", "then"].contains(word)) {
            let mut task = Task::read(clause, stations);
            task.book &= !cautious;
            let is_another = task.from.is_some() || task.place.is_some() || task.day.is_some();
            if let Some(before) = tasks.last() {
                task.inherit(before, is_another);
            }
            if !is_another {
                tasks.pop();
            }
            tasks.push(task);
        }
    }
    tasks.retain(|task| task.train || task.weather);
    tasks
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).collect()
}

impl Task {
    pub(crate) fn seats(&self) -> u32 {
        self.seats.unwrap_or(1)
    }

    fn read(clause: &[&str], stations: &[&str]) -> Self {
        let small: Vec<String> = clause.iter().map(|word| word.to_lowercase()).collect();
        let has = |list: &[&str]| small.iter().any(|word| list.contains(&&**word));
        let order = small.iter().find(|word| !POLITE.contains(&&***word));
        let mut task = Self {
            train: has(&TRAIN),
            weather: has(&WEATHER),
            book: order.is_some_and(|word| BOOK.contains(&&**word)),
            cheapest: has(&["cheapest"]),
            last: has(&["last", "latest"]),
            ..Self::default()
        };
        for (index, word) in small.iter().enumerate() {
            let before = index.checked_sub(1).map_or("", |before| &*small[before]);
            let behind = small.get(index + 1).map_or("", |behind| &**behind);
            match place_name(clause[index], before, stations) {
                Some(name) if before == "from" || behind == "to" => task.from = Some(name),
                Some(name) => task.place = Some(name),
                None if before == "for" || ["people", "seats", "tickets"].contains(&behind) => {
                    task.seats = parse_number(word).or(task.seats);
                }
                None => task.day = task.day.or_else(|| parse_day(word)),
            }
        }
        task.train |= task.from.is_some();
        task
    }

    /// Fills missing details from the previous task: people do not repeat what is clear from context.
    fn inherit(&mut self, before: &Self, is_another: bool) {
        if !is_another || (!self.train && !self.weather) {
            self.train |= before.train;
            self.weather |= before.weather;
        }
        self.book |= before.book && !is_another;
        self.cheapest |= before.cheapest;
        self.last |= before.last;
        self.from = self.from.take().or_else(|| before.from.clone());
        self.place = self.place.take().or_else(|| before.place.clone());
        self.day = self.day.or(before.day);
        self.seats = self.seats.or(before.seats);
    }
}

/// The name of a place: any station, or a capitalised word after a preposition.
fn place_name(word: &str, before: &str, stations: &[&str]) -> Option<String> {
    let station = stations.iter().find(|station| station.eq_ignore_ascii_case(word));
    let is_name = word.starts_with(char::is_uppercase) && ["from", "to", "in"].contains(&before);
    station.copied().or(is_name.then_some(word)).map(str::to_owned)
}

fn parse_day(word: &str) -> Option<&'static str> {
    match word {
        "today" => Some(DAYS[0]),
        "tomorrow" => Some(DAYS[1]),
        _ => DAYS.into_iter().find(|day| day.eq_ignore_ascii_case(word)),
    }
}

fn parse_number(word: &str) -> Option<u32> {
    let named = NUMBERS.iter().zip(1..).find_map(|(name, number)| (*name == word).then_some(number));
    named.or_else(|| word.parse().ok().filter(|number| *number > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(text: &str) -> Vec<Task> {
        parse(text, &["Leeds", "London", "Newcastle", "York"])
    }

    #[test]
    fn places_are_known_by_the_words_around_them() {
        for text in ["A train from Leeds to York", "To York from Leeds", "train leeds to york"] {
            let Task { from, place, .. } = tasks(text).remove(0);
            assert_eq!((from.as_deref(), place.as_deref()), (Some("Leeds"), Some("York")), "{text}");
        }
    }

    #[test]
    fn a_clause_with_a_place_or_a_day_is_another_task_and_any_other_is_not() {
        let days: Vec<_> =
            tasks("Weather in York on Friday and Sunday").iter().map(|task| task.day).collect();
        assert_eq!(days, [Some("Friday"), Some("Sunday")]);
        let tasks = tasks("A train from Leeds to York for two. How is the weather there, and is it warm?");
        assert_eq!((tasks.len(), tasks[0].train, tasks[0].weather, tasks[0].seats()), (1, true, true, 2));
    }

    #[test]
    fn only_an_order_is_a_booking() {
        let books = |text: &str| tasks(text).iter().any(|task| task.book);
        for text in
            ["Book a train to York", "The last train to York and book it", "Can you book seats to York?"]
        {
            assert!(books(text), "{text}");
        }
        for text in [
            "I will book the train to York",
            "How do I book a train to York?",
            "If it is sunny in York then book a train",
            "Find a train to York. Book nothing.",
        ] {
            assert!(!books(text), "{text}");
        }
    }
}
