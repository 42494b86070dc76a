//! Recordings of model traffic ("cassettes"): a JSON file per item, committed beside the tests and read in reviews.
//!
//! A [`Cassette`] holds the [`Trial`]s of an item, each with its [`Interaction`]s in the order in which the agent sent them, and the
//! judges' answers. [`RecordingFolder`] reads and writes the cassettes of an experiment. Requests are compared by [`RequestKey`];
//! [`differences`] says where two requests differ.

mod body;
mod cassette;
mod differences;
mod folder;
mod request_key;

pub use body::{Body, StreamEvent, split_events};
pub use cassette::{
    CASSETTE_VERSION, Cassette, Interaction, JudgeAnswer, RecordedRequest, RecordedResponse, Trial,
};
pub use differences::{Difference, differences, nearest};
pub use folder::{RecordingError, RecordingFolder, UNATTRIBUTED, is_cassette};
pub use request_key::{RequestKey, ignore_fields, sort_keys};
