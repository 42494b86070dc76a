//! Lengths of time with their units.

use super::words::listing;

/// The units of a duration and their lengths in nanoseconds.
pub(crate) const DURATION_UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The length in nanoseconds of so many of a unit, or what the units are.
pub(crate) fn duration_nanos(number: f64, unit: &str) -> Result<u64, String> {
    let Some((_, nanos)) = DURATION_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(no_such_unit(number, unit));
    };
    let length = (number * *nanos as f64).round();
    if !(0.0..=u64::MAX as f64).contains(&length) {
        return Err(format!("{number}{unit} is no possible duration"));
    }
    Ok(length as u64)
}

fn no_such_unit(number: f64, unit: &str) -> String {
    let meant = match unit.to_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => Some("s"),
        "min" | "mins" | "minute" | "minutes" => Some("m"),
        "hr" | "hrs" | "hour" | "hours" => Some("h"),
        "msec" | "millis" | "milliseconds" => Some("ms"),
        _ => None,
    };
    let units = listing(&DURATION_UNITS.map(|(name, _)| name));
    match meant {
        Some(meant) => format!("no unit of time `{unit}`: write `{number}{meant}` (there are {units})"),
        None => format!("no unit of time `{unit}`: there are {units}"),
    }
}
