//! Recordings of model traffic ("cassettes"): a JSON file per item, committed beside the tests and read in reviews.
//!
//! A [`Cassette`] holds the [`Trial`]s of an item, each with its [`Interaction`]s in the order in which the agent sent them, the calls of
//! its tools, and the judges' answers. [`RecordingFolder`] reads and writes the cassettes of an experiment. Requests are compared by [`RequestKey`];
//! [`differences`] says where two requests differ.

mod additions;
mod body;
mod cassette;
mod conversation;
mod differences;
mod folder;
mod masked;
mod request_key;
mod response;
mod stream;

pub use additions::{ADDITIONS_ENDING, Addition, AdditionsFile, path_of as additions_path};
pub use body::Body;
pub use cassette::{
    CASSETTE_VERSION, Cassette, Interaction, JudgeAnswer, RecordedRequest, RecordedResponse,
    RecordedToolCall, Trial,
};
pub use conversation::{
    Answer, RequestedCall, answer, answer_of_stream, call_in, content_text, last_message, message_text,
    results_in, tool_results,
};
pub use differences::{Difference, differences, differences_in_full, nearest};
pub use folder::{RecordingError, RecordingFolder, UNATTRIBUTED, cassette_name};
pub use request_key::RequestKey;
pub use response::{ModelResponse, StreamReader};
pub use stream::{StreamEvent, StreamKind, StreamSplitter, event_data};
