//! Reads a request: it goes through the words once, and each adds to the task at hand or begins another.

use std::mem;

use crate::clock::{Day, Time};
use crate::task::{Choice, Kind, Task, complete};
use crate::words::{Mark, Word, amount, currency, number, split, time};

const JOURNEY: [&str; 9] =
    ["train", "trains", "travel", "trip", "journey", "ticket", "tickets", "seat", "seats"];
const WEATHER: [&str; 9] =
    ["weather", "forecast", "rain", "umbrella", "snow", "sunny", "cold", "warm", "temperature"];
/// What a capitalised word behind these names is taken for a place.
const BEFORE_PLACES: [&str; 6] = ["from", "to", "in", "at", "for", "between"];
const PEOPLE: [&str; 7] = ["people", "persons", "adults", "travellers", "passengers", "seats", "tickets"];
const BOOK: [&str; 3] = ["book", "reserve", "buy"];
/// Where one of these is in the sentence, nothing is booked: a booking too few is sooner mended than one too many.
const CAUTION: [&str; 11] =
    ["not", "nothing", "yet", "don't", "dont", "never", "without", "if", "unless", "how", "myself"];

/// Reads what is wanted. `stations` are those of the timetable.
pub(crate) fn read(text: &str, stations: &[&str], today: Day) -> Vec<Task> {
    let mut reader = Reader { stations, today, words: split(text), done: Vec::new(), task: Task::default() };
    let mut place = 0;
    while place < reader.words.len() {
        place += match reader.name(place) {
            Some((name, words)) => {
                reader.read_name(place, words, name);
                words
            }
            None => reader.read_word(place),
        };
    }
    reader.done.push(reader.task);
    complete(reader.done)
}

struct Reader<'a> {
    stations: &'a [&'a str],
    today: Day,
    words: Vec<Word>,
    done: Vec<Task>,
    /// The one at hand.
    task: Task,
}

impl Reader<'_> {
    fn text(&self, place: usize) -> &str {
        self.words.get(place).map_or("", |word| &word.text)
    }

    /// The word so many before this one; empty where there is none.
    fn text_before(&self, place: usize, count: usize) -> &str {
        place.checked_sub(count).map_or("", |place| self.text(place))
    }

    /// The task at hand, if it can be of this kind, or another.
    fn task_of(&mut self, kind: Kind) -> &mut Task {
        if self.task.kind.is_some_and(|other| other != kind) {
            self.begin(kind);
        }
        self.task.kind = Some(kind);
        &mut self.task
    }

    fn begin(&mut self, kind: Kind) {
        self.done.push(mem::replace(&mut self.task, Task { kind: Some(kind), ..Task::default() }));
    }

    /// The name of a place that begins here, and its count of words.
    fn name(&self, place: usize) -> Option<(String, usize)> {
        let word = &self.words[place];
        let station = self.stations.iter().find(|station| station.eq_ignore_ascii_case(&word.text));
        // Who writes no capitals at all writes names without them too.
        if self.words.iter().all(|word| word.written == word.text) {
            return station.map(|station| ((*station).to_owned(), 1));
        }
        let mut names: Vec<&str> = Vec::new();
        for word in self.words[place..].iter().take_while(|word| is_name(word)) {
            names.push(&word.written);
            if word.mark != Mark::Nothing {
                break;
            }
        }
        let expected = BEFORE_PLACES.contains(&self.text_before(place, 1));
        match station {
            // The rest names the station among those of the city.
            Some(station) if !names.is_empty() => Some(((*station).to_owned(), names.len())),
            None if !names.is_empty() && expected => Some((names.join(" "), names.len())),
            _ => None,
        }
    }

    /// Adds a place to the task at hand, or to another where that has such a place already.
    fn read_name(&mut self, place: usize, words: usize, name: String) {
        let between = self.text_before(place, 3) == "between";
        let (kind, field): (_, fn(&mut Task) -> &mut Option<String>) =
            match (self.text_before(place, 1), self.text(place + words)) {
                ("to", _) => (Some(Kind::Journey), |task| &mut task.to),
                ("and", _) if between => (Some(Kind::Journey), |task| &mut task.to),
                ("from" | "between", _) | (_, "to") => (Some(Kind::Journey), |task| &mut task.from),
                _ => (self.task.kind, |task| &mut task.at),
            };
        if let Some(kind) = kind {
            let is_taken = field(self.task_of(kind)).as_ref().is_some_and(|other| *other != name);
            if is_taken {
                self.begin(kind);
            }
        }
        *field(&mut self.task) = Some(name);
    }

    /// Reads a word that names no place, and returns how many words that took.
    fn read_word(&mut self, place: usize) -> usize {
        let (word, next) = (self.text(place).to_owned(), self.text(place + 1).to_owned());
        let before = self.text_before(place, 1).to_owned();
        if let Some(amount) = amount(&word, &next) {
            // A limit is no amount to exchange.
            if !["under", "below", "over", "than"].contains(&&*before) {
                self.task_of(Kind::Exchange).amount = Some(amount);
            }
            return if currency(&next) == Some(amount.1) { 2 } else { 1 };
        }
        if let Some(seats) = number(&word)
            && (PEOPLE.contains(&&*next) || before == "for")
        {
            self.task.seats = Some(seats);
        } else if self.is_order(place) {
            self.read_order(&next);
        } else {
            self.read_day(&word);
            self.read_hours(&word, place);
            self.read_subject(&word, &next);
        }
        1
    }

    fn read_day(&mut self, word: &str) {
        let day = match word {
            "today" | "tonight" => Some(self.today),
            "tomorrow" => Some(self.today.next()),
            "weekend" => Some(Day::Saturday),
            _ => Day::named(word),
        };
        self.task.day = self.task.day.or(day);
    }

    fn read_hours(&mut self, word: &str, place: usize) {
        let named = time(self.text(place + 1), self.text(place + 2));
        let (noon, evening) = (Time::new(12, 0), Time::new(18, 0));
        let (after, before) = match word {
            "after" => (named, None),
            "before" => (None, named),
            "morning" => (None, noon),
            "afternoon" => (noon, evening),
            "evening" | "tonight" => (evening, None),
            _ => (None, None),
        };
        self.task.after = after.or(self.task.after);
        self.task.before = before.or(self.task.before);
    }

    fn read_subject(&mut self, word: &str, next: &str) {
        let choice = match word {
            "cheapest" | "cheap" | "cheaply" => Some(Choice::Cheapest),
            "fastest" | "quickest" => Some(Choice::Fastest),
            "earliest" => Some(Choice::Earliest),
            "latest" => Some(Choice::Latest),
            "first" if next == "train" => Some(Choice::Earliest),
            "last" if next == "train" => Some(Choice::Latest),
            _ => None,
        };
        if choice.is_some() {
            self.task_of(Kind::Journey).choice = choice;
        } else if JOURNEY.contains(&word) {
            self.task_of(Kind::Journey);
        } else if WEATHER.contains(&word) {
            self.task_of(Kind::Weather);
        } else if let Some(code) = currency(word) {
            self.task.currency = Some(code);
        } else if let "back" | "return" = word
            && let (Some(from), Some(to)) = (self.task.from.clone(), self.task.to.clone())
        {
            self.begin(Kind::Journey);
            (self.task.from, self.task.to) = (Some(to), Some(from));
        }
    }

    /// Whether a word asks for a booking: "book …", "please book …", "can you book …", but not "I will book …".
    fn is_order(&self, place: usize) -> bool {
        let before = self.text_before(place, 1);
        let ask = match self.text_before(place, 2) {
            "can" | "could" | "will" | "would" => before == "you",
            "like" | "want" | "need" => before == "to",
            _ => ["and", "then", "please"].contains(&before),
        };
        let begins = place.checked_sub(1).is_none_or(|before| self.words[before].mark != Mark::Nothing);
        let cautious = self.sentence(place).iter().any(|word| CAUTION.contains(&&*word.text));
        BOOK.contains(&self.text(place)) && (ask || begins) && !cautious
    }

    /// "Book it" means the journey that was spoken of last, anything else the one that is spoken of now.
    fn read_order(&mut self, next: &str) {
        let is_journey = |task: &&mut Task| task.kind == Some(Kind::Journey);
        let meant = match next {
            "it" | "that" | "this" | "one" if self.task.kind != Some(Kind::Journey) => {
                self.done.iter_mut().rev().find(is_journey)
            }
            _ => None,
        };
        match meant {
            Some(journey) => journey.book = true,
            None => self.task_of(Kind::Journey).book = true,
        }
    }

    /// The words between the full stops around this one.
    fn sentence(&self, place: usize) -> &[Word] {
        let ends = |word: &Word| word.mark == Mark::FullStop;
        let start = self.words[..place].iter().rposition(ends).map_or(0, |end| end + 1);
        let end = self.words[place..].iter().position(ends).map_or(self.words.len(), |end| place + end + 1);
        &self.words[start..end]
    }
}

/// Whether a word may be part of a name: it is capitalised, and no word that is so for other reasons.
fn is_name(word: &Word) -> bool {
    word.written.starts_with(char::is_uppercase)
        && Day::named(&word.text).is_none()
        && !BEFORE_PLACES.contains(&&*word.text)
        && !word.text.starts_with("i'")
        && word.text != "i"
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATIONS: [&str; 5] = ["Leeds", "London", "Newcastle", "Reading", "York"];

    fn tasks(text: &str) -> Vec<Task> {
        read(text, &STATIONS, Day::Wednesday)
    }

    /// Where each journey goes, and the place of all other tasks.
    fn places(text: &str) -> Vec<String> {
        let name = |place: Option<String>| place.unwrap_or_default();
        let places = tasks(text).into_iter().map(|task| match task.kind {
            Some(Kind::Journey) => format!("{} > {}", name(task.from), name(task.to)),
            _ => name(task.at),
        });
        places.collect()
    }

    fn books(text: &str) -> bool {
        tasks(text).iter().any(|task| task.book)
    }

    #[test]
    fn places_are_known_by_the_words_around_them() {
        for text in [
            "A train from Leeds to York",
            "To York from Leeds by train",
            "Leeds to York",
            "leeds to york",
            "Trains between Leeds and York",
            "FROM LEEDS TO YORK",
        ] {
            assert_eq!(places(text), ["Leeds > York"], "{text}");
        }
        assert_eq!(places("From Leeds to London Kings Cross on Friday"), ["Leeds > London"]);
    }

    #[test]
    fn a_name_that_no_station_has_is_kept_as_it_is_written() {
        assert_eq!(places("Trains from New York to Atlantis, Friday"), ["New York > Atlantis"]);
    }

    #[test]
    fn a_station_whose_name_is_a_word_is_told_by_its_capital() {
        assert_eq!(places("I like reading on the train from Reading to London"), ["Reading > London"]);
    }

    #[test]
    fn a_request_may_have_several_tasks() {
        assert_eq!(places("Leeds to York on Friday and back on Sunday"), ["Leeds > York", "York > Leeds"]);
        assert_eq!(places("From Leeds to York and back to Leeds"), ["Leeds > York", "York > Leeds"]);
        assert_eq!(places("From Leeds to York, then to Newcastle"), ["Leeds > York", "York > Newcastle"]);
        assert_eq!(places("Is it warm in York, and when is a train from Leeds?"), ["York", "Leeds > York"]);
        assert_eq!(places("Weather in Leeds and London"), ["Leeds", "London"]);
    }

    #[test]
    fn each_task_has_its_own_day() {
        let days = |text| tasks(text).into_iter().map(|task| task.day).collect::<Vec<_>>();
        assert_eq!(days("Leeds to York tomorrow, back on Sunday"), [Some(Day::Thursday), Some(Day::Sunday)]);
        assert_eq!(days("Leeds to York, and the weather there on Friday"), [Some(Day::Friday); 2]);
        assert_eq!(days("Leeds to York"), [None]);
    }

    #[test]
    fn hours_bound_the_departure() {
        let task = &tasks("A train after 9:30 and before noon from Leeds to York")[0];
        assert_eq!((task.after, task.before), (Time::new(9, 30), Time::new(12, 0)));
        let task = &tasks("Leeds to York in the afternoon")[0];
        assert_eq!((task.after, task.before), (Time::new(12, 0), Time::new(18, 0)));
    }

    #[test]
    fn numbers_of_people_are_told_from_other_numbers() {
        assert_eq!(tasks("Trains for two to York")[0].seats, Some(2));
        assert_eq!(tasks("Trains to York, 3 adults")[0].seats, Some(3));
        assert_eq!(tasks("Trains to York at 9")[0].seats, None);
    }

    #[test]
    fn money_is_exchanged_or_is_what_a_price_is_wanted_in() {
        let task = &tasks("What are 80 pounds in euros?")[0];
        assert_eq!((task.kind, task.amount), (Some(Kind::Exchange), Some((80.0, "GBP"))));
        assert_eq!(task.currency, Some("EUR"));
        let task = &tasks("Price of a train to York in dollars")[0];
        assert_eq!((task.kind, task.currency), (Some(Kind::Journey), Some("USD")));
        assert_eq!(tasks("A train to York under £20")[0].amount, None);
    }

    #[test]
    fn an_order_is_a_booking() {
        for text in [
            "Book a train to York",
            "Can you book a train to York?",
            "I would like to reserve a seat to York",
            "Find the first train to York and book it.",
            "The first train to York, is it cheap? Then book it",
        ] {
            assert!(books(text), "{text}");
        }
    }

    #[test]
    fn talk_of_a_booking_is_none() {
        for text in [
            "Do not book the train to York",
            "I will book the train to York myself",
            "How do I book a train to York?",
            "I read a book on the train to York",
            "If it is sunny, book a train to York",
            "Did you book the train to York?",
            "Please book nothing yet, I only ask for the train to York",
            "Before I book: when is a train to York?",
        ] {
            assert!(!books(text), "{text}");
        }
    }

    #[test]
    fn book_it_means_the_journey_and_not_what_was_asked_in_between() {
        let tasks = tasks("A train from Leeds to York. How is the weather? Book it, please.");
        assert_eq!(tasks.iter().map(|task| task.book).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn small_talk_is_no_task() {
        assert_eq!(tasks("Thank you, that was all!"), []);
        assert_eq!(tasks(""), []);
    }
}
