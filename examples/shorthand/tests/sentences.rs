//! Unit tests of the agent.

use shorthand::write_out;

#[test]
fn abbreviations_are_written_out_whatever_follows_them() {
    assert_eq!(write_out("pls call Bo asap!"), "Please call Bo as soon as possible!");
    assert_eq!(write_out("Mtg, fri: w/o Ann"), "Meeting, Friday: without Ann.");
}

#[test]
fn other_words_and_empty_notes_stay_as_they_are() {
    assert_eq!(write_out("Remind Mona."), "Remind Mona.");
    assert_eq!(write_out("  "), "");
}
