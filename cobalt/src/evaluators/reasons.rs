//! Parts of reasons.

/// The first few entries, and the number of others.
pub fn format_list(all: &[String]) -> String {
    const SHOWN: usize = 3;
    match all.len().checked_sub(SHOWN) {
        None | Some(0) => all.join(", "),
        Some(more) => format!("{} and {more} more", all[..SHOWN].join(", ")),
    }
}

pub fn format_times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{number} times"),
    }
}
