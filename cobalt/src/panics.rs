//! Panics of agents and evaluators: what they say and where.

use std::any::Any;
use std::cell::RefCell;
use std::panic;

thread_local! {
    /// Where the last panic of this thread was, while it has not been asked for.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of each panic from now on, besides what the hook that is there does.
pub(crate) fn note_places() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string);
        // A panic while the thread ends has no place to be kept in.
        let _ = PLACE.try_with(|kept| kept.replace(place));
        hook(info);
    }));
}

/// A panic that was caught on this thread, in a sentence: its place, where it is known, and its message.
pub(crate) fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text =
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    match PLACE.try_with(RefCell::take) {
        Ok(Some(place)) => format!("panicked at {place}: {text}"),
        _ => format!("panicked: {text}"),
    }
}
