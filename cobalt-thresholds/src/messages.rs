//! Helpers for messages: suggestions for misspelt names, lists, and durations.

/// The known name closest to a misspelt one: at most a third of its letters differ.
pub fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // Percentiles are always similar, so a suggestion would be arbitrary.
    let percentile =
        word.strip_prefix('p').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if percentile {
        return None;
    }
    let word = word.to_lowercase();
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&word, &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= (word.len().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Joins names: `` `a`, `b` and `c` ``.
pub fn join_quoted(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `must be from 0 to 1, …`: the end of a message about scores and pass marks.
pub fn out_of_range_message(value: f64) -> String {
    if (2.0..=100.0).contains(&value) {
        return format!("must be from 0 to 1: for {value}% write `{}`", value / 100.0);
    }
    format!("must be from 0 to 1, not {value}")
}

/// Time units and their lengths in nanoseconds.
pub const DURATION_UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Converts a number of a unit to nanoseconds.
pub fn duration_nanos(number: f64, unit: &str) -> Result<u64, String> {
    let Some((_, nanos)) = DURATION_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(unknown_unit_message(number, unit));
    };
    let length = (number * *nanos as f64).round();
    if !(0.0..=u64::MAX as f64).contains(&length) {
        return Err(format!("{number}{unit} is not a valid duration"));
    }
    Ok(length as u64)
}

fn unknown_unit_message(number: f64, unit: &str) -> String {
    let meant = match unit.to_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => Some("s"),
        "min" | "mins" | "minute" | "minutes" => Some("m"),
        "hr" | "hrs" | "hour" | "hours" => Some("h"),
        "msec" | "millis" | "milliseconds" => Some("ms"),
        _ => None,
    };
    let units = join_quoted(&DURATION_UNITS.map(|(name, _)| name));
    match meant {
        Some(meant) => format!("unknown time unit `{unit}`: write `{number}{meant}` (units: {units})"),
        None => format!("unknown time unit `{unit}`; units: {units}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_closest_one_but_a_percentile_has_none() {
        assert_eq!(closest("Latncy", &["latency", "tokens"]), Some("latency"));
        assert_eq!(closest("speed", &["latency", "tokens"]), None);
        assert_eq!(closest("p90", &["p50", "p95"]), None);
    }

    #[test]
    fn a_duration_has_a_unit_and_a_possible_length() {
        assert_eq!(duration_nanos(1.5, "ms"), Ok(1_500_000));
        assert!(duration_nanos(3.0, "secs").unwrap_err().contains("write `3s`"));
        assert!(duration_nanos(-1.0, "s").unwrap_err().contains("not a valid duration"));
        assert!(duration_nanos(1e9, "h").unwrap_err().contains("not a valid duration"));
    }
}
