//! Books trains in a conversation: asks for what is missing, and books when it knows everything.

use serde::{Deserialize, Serialize};

const CITIES: [&str; 7] = ["Bath", "Hull", "Leeds", "London", "Oxford", "Selby", "York"];
const DAYS: [&str; 8] =
    ["tomorrow", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const NUMBERS: [&str; 7] = ["one", "two", "three", "four", "five", "six", "seven"];
/// What only a person can do.
const FOR_PEOPLE: [&str; 4] = ["complain", "refund", "wheelchair", "dog"];
/// The price of a seat in pounds.
const PRICE: u32 = 12;
/// After asking this often for the same, the desk hands over.
const MAX_ATTEMPTS: usize = 2;

/// A booked trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Booking {
    /// The city where it starts.
    pub from: String,
    /// The city where it ends.
    pub to: String,
    /// The day, as the traveller says it.
    pub day: String,
    /// The number of seats.
    pub people: u32,
}

/// What the desk knows of a trip.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    from: Option<String>,
    to: Option<String>,
    day: Option<String>,
    people: Option<u32>,
    asked: Option<Question>,
    attempts: usize,
}

/// What the desk says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It needs to know more.
    Asks(String),
    /// It has booked.
    Booked(String, Booking),
    /// A person has to go on.
    HandsOver(String),
}

/// What is still missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    To,
    From,
    Day,
    People,
}

impl Question {
    fn text(self) -> &'static str {
        match self {
            Self::To => "Where do you want to go?",
            Self::From => "Where do you start?",
            Self::Day => "On which day do you want to travel?",
            Self::People => "How many people are you?",
        }
    }
}

impl Desk {
    /// Answers a message.
    pub fn answer(&mut self, message: &str) -> Answer {
        let words: Vec<String> =
            message.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase).collect();
        if words.iter().any(|word| FOR_PEOPLE.iter().any(|topic| word.starts_with(topic))) {
            return Answer::HandsOver(
                "I connect you with a colleague who can help you with that.".to_owned(),
            );
        }
        self.read(&words);
        let Some(question) = self.missing() else { return self.book() };
        self.attempts = if self.asked == Some(question) { self.attempts + 1 } else { 0 };
        self.asked = Some(question);
        match self.attempts {
            0 => Answer::Asks(question.text().to_owned()),
            attempt if attempt < MAX_ATTEMPTS => {
                Answer::Asks(format!("Sorry, I did not get that. {}", question.text()))
            }
            _ => Answer::HandsOver("Sorry, I do not understand. I connect you with a colleague.".to_owned()),
        }
    }

    fn read(&mut self, words: &[String]) {
        for (place, word) in words.iter().enumerate() {
            let before = place.checked_sub(1).map(|place| words[place].as_str());
            if let Some(city) = CITIES.iter().find(|city| city.to_lowercase() == *word) {
                let slot = match (before, self.asked) {
                    (Some("from"), _) => &mut self.from,
                    (Some("to"), _) => &mut self.to,
                    (_, Some(Question::From)) => &mut self.from,
                    _ => &mut self.to,
                };
                *slot = Some((*city).to_owned());
            }
            if let Some(day) = DAYS.iter().find(|day| day.to_lowercase() == *word) {
                self.day = Some((*day).to_owned());
            }
            let digits = word.parse().ok().filter(|number| *number > 0);
            let spelled = NUMBERS.iter().position(|number| number == word).map(|place| place as u32 + 1);
            if let Some(number) = digits.or(spelled) {
                self.people = Some(number);
            }
            if word == "alone" || (word == "me" && before == Some("just")) {
                self.people = Some(1);
            }
        }
    }

    fn missing(&self) -> Option<Question> {
        let known = [
            (Question::To, self.to.is_some()),
            (Question::From, self.from.is_some()),
            (Question::Day, self.day.is_some()),
            (Question::People, self.people.is_some()),
        ];
        known.into_iter().find(|(_, is_known)| !is_known).map(|(question, _)| question)
    }

    fn book(&self) -> Answer {
        let booking = Booking {
            from: self.from.clone().unwrap_or_default(),
            to: self.to.clone().unwrap_or_default(),
            day: self.day.clone().unwrap_or_default(),
            people: self.people.unwrap_or(1),
        };
        let Booking { from, to, day, people } = &booking;
        let on = if day == "tomorrow" { "" } else { "on " };
        let seats = if *people == 1 { "1 seat".to_owned() } else { format!("{people} seats") };
        let text = format!("Booked: {from} to {to} {on}{day}, {seats}, £{}.", people * PRICE);
        Answer::Booked(text, booking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trip_is_booked_when_everything_is_known() {
        let mut desk = Desk::default();
        assert_eq!(desk.answer("A train to Leeds, please."), Answer::Asks("Where do you start?".to_owned()));
        assert_eq!(desk.answer("York"), Answer::Asks("On which day do you want to travel?".to_owned()));
        assert_eq!(desk.answer("On Friday, just me."), {
            let booking = Booking {
                from: "York".to_owned(),
                to: "Leeds".to_owned(),
                day: "Friday".to_owned(),
                people: 1,
            };
            Answer::Booked("Booked: York to Leeds on Friday, 1 seat, £12.".to_owned(), booking)
        });
    }

    #[test]
    fn the_desk_hands_over_what_it_cannot_do() {
        assert!(matches!(Desk::default().answer("I want a refund."), Answer::HandsOver(_)));
        let mut desk = Desk::default();
        for _ in 0..2 {
            assert!(matches!(desk.answer("Somewhere warm"), Answer::Asks(_)));
        }
        assert!(matches!(desk.answer("Somewhere warm"), Answer::HandsOver(_)));
    }
}
