//! Words of a request, and what single words mean.

use crate::clock::Time;

/// A word without the marks around it.
#[derive(Debug)]
pub(crate) struct Word {
    /// As it was written.
    pub(crate) written: String,
    /// In small letters.
    pub(crate) text: String,
    pub(crate) mark: Mark,
}

/// What stands behind a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Nothing,
    Comma,
    FullStop,
}

pub(crate) fn split(text: &str) -> Vec<Word> {
    let text = text.replace('’', "'");
    let belongs = |letter: char| letter.is_alphanumeric() || "£€$".contains(letter);
    let words = text.split_whitespace().map(|word| {
        let written = word.trim_matches(|letter| !belongs(letter));
        let written = written.strip_suffix("'s").unwrap_or(written).to_owned();
        let mark = match word.chars().last() {
            Some('.' | '?' | '!' | ';') => Mark::FullStop,
            Some(',' | ':') => Mark::Comma,
            _ => Mark::Nothing,
        };
        Word { text: written.to_lowercase(), written, mark }
    });
    words.filter(|word| !word.text.is_empty()).collect()
}

/// A small number, as a word or in digits.
pub(crate) fn number(word: &str) -> Option<u32> {
    const NUMBERS: [&str; 9] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let place = NUMBERS.iter().position(|number| *number == word);
    place.map_or_else(|| word.parse().ok(), |place| u32::try_from(place + 1).ok())
}

/// The code of a currency.
pub(crate) fn currency(word: &str) -> Option<&'static str> {
    match word {
        "pound" | "pounds" | "sterling" | "gbp" => Some("GBP"),
        "euro" | "euros" | "eur" => Some("EUR"),
        "dollar" | "dollars" | "usd" => Some("USD"),
        "franc" | "francs" | "chf" => Some("CHF"),
        _ => None,
    }
}

/// An amount with the sign of its currency, or with the next word for it.
pub(crate) fn amount(word: &str, next: &str) -> Option<(f64, &'static str)> {
    let signs = [('£', "GBP"), ('€', "EUR"), ('$', "USD")];
    let signed = signs.into_iter().find_map(|(sign, code)| Some((word.strip_prefix(sign)?, code)));
    let (digits, code) = signed.or_else(|| Some((word, currency(next)?)))?;
    Some((digits.parse().ok()?, code))
}

/// A time such as `17:25`, `5pm`, `5` or `noon`; the next word may be `am` or `pm`.
pub(crate) fn time(word: &str, next: &str) -> Option<Time> {
    /// Who names an earlier hour, and no more, means the afternoon.
    const EARLIEST: u16 = 7;
    if let "noon" | "midday" = word {
        return Time::new(12, 0);
    }
    let (digits, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(digits), _) => (digits, "am"),
        (_, Some(digits)) => (digits, "pm"),
        _ => (word, next),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute) = (hour.parse::<u16>().ok()?, minute.parse().ok()?);
    let hour = match half {
        "am" if hour <= 12 => hour % 12,
        "pm" if hour <= 12 => hour % 12 + 12,
        _ if hour < EARLIEST && !digits.contains(':') => hour + 12,
        _ => hour,
    };
    Time::new(hour, minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_kept_apart_from_their_words() {
        let words = split("Paris, from (£50). Don’t!");
        let found: Vec<_> = words.iter().map(|word| (&*word.text, word.mark)).collect();
        let expected = [
            ("paris", Mark::Comma),
            ("from", Mark::Nothing),
            ("£50", Mark::FullStop),
            ("don't", Mark::FullStop),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_amount_has_a_currency() {
        assert_eq!(amount("£12.50", "in"), Some((12.5, "GBP")));
        assert_eq!(amount("200", "dollars"), Some((200.0, "USD")));
        assert_eq!((amount("200", "people"), amount("many", "dollars")), (None, None));
    }

    #[test]
    fn hours_are_read_as_people_write_them() {
        for (word, next, expected) in [
            ("17:25", "", "17:25"),
            ("5pm", "", "17:00"),
            ("9", "am", "09:00"),
            ("12", "pm", "12:00"),
            ("12am", "", "00:00"),
            ("5", "on", "17:00"),
            ("9", "on", "09:00"),
            ("06:10", "", "06:10"),
            ("noon", "", "12:00"),
        ] {
            assert_eq!(
                time(word, next).map(|time| time.to_string()).as_deref(),
                Some(expected),
                "{word} {next}"
            );
        }
        for word in ["25", "99pm", "12:60", "lunch"] {
            assert_eq!(time(word, ""), None, "{word}");
        }
    }
}
