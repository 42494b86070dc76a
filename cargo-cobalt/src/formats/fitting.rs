//! Texts that a server takes up to a size only.

/// As many of the sections as have room in so many bytes, and a note where these are not all. Nothing where even that has none.
pub(crate) fn fitting(sections: &[String], room: usize, note: &str) -> String {
    let all: usize = sections.iter().map(String::len).sum();
    if all <= room {
        return sections.concat();
    }
    let Some(room) = room.checked_sub(note.len()) else { return String::new() };
    let mut taken = 0;
    let fits = |section: &&String| {
        taken += section.len();
        taken <= room
    };
    sections.iter().take_while(fits).map(String::as_str).chain([note]).collect()
}

#[cfg(test)]
#[test]
fn sections_that_have_no_room_are_left_out_whole_and_that_is_said() {
    let sections = ["# desk\n".to_owned(), "a".repeat(100), "b".repeat(100)];
    assert_eq!(fitting(&sections, 207, "…"), sections.concat());
    assert_eq!(fitting(&sections, 206, "more"), format!("# desk\n{}more", sections[1]));
    assert_eq!(fitting(&sections, 110, "more"), "# desk\nmore");
    assert_eq!(fitting(&sections, 3, "more"), "");
}
