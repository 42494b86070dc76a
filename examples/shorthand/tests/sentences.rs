//! Unit tests of the agent.

use shorthand::expand;

#[test]
fn abbreviations_are_written_out_whatever_follows_them() {
    assert_eq!(expand("pls call Bo asap!"), "Please call Bo as soon as possible!");
    assert_eq!(expand("Mtg, fri: w/o Ann"), "Meeting, Friday: without Ann.");
}

#[test]
fn other_words_and_empty_notes_stay_as_they_are() {
    assert_eq!(expand("Remind Mona."), "Remind Mona.");
    assert_eq!(expand("  "), "");
}
