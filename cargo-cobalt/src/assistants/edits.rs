//! Edits files that users share with us: the part between our markers in Markdown, and our server in `.mcp.json`.

use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use jsonc_parser::{ParseOptions, json};

use super::changes::{AssistantsError, MarkerError};

/// The line before our part.
pub const BEGIN: &str = "<!-- cobalt:begin -->";
/// The line after it.
pub const END: &str = "<!-- cobalt:end -->";

/// The text with this content between the markers. They are appended to a text without them.
///
/// # Errors
///
/// If the markers are not a pair: the line, from 1, and what is wrong with it.
pub fn with_part(text: &str, content: &str) -> Result<String, (usize, MarkerError)> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let content = content.trim_end().lines().map(|line| format!("{line}{line_end}")).collect::<String>();
    if let Some((begin, end)) = find_part(text)? {
        return Ok(format!("{}{content}{}", &text[..begin], &text[end..]));
    }
    let gap = match text {
        _ if text.trim_start_matches('\u{feff}').is_empty() => String::new(),
        _ if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    Ok(format!("{text}{gap}{BEGIN}{line_end}{content}{END}{line_end}"))
}

/// The byte range of our part, without its markers.
fn find_part(text: &str) -> Result<Option<(usize, usize)>, (usize, MarkerError)> {
    let mut begin: Option<(usize, usize)> = None;
    let mut found = None;
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let after = start + line.len();
        match line.trim_start_matches('\u{feff}').trim() {
            BEGIN if begin.is_some() || found.is_some() => return Err((number, MarkerError::Twice)),
            BEGIN => begin = Some((number, after)),
            END => found = Some((begin.take().ok_or((number, MarkerError::NoBegin))?.1, start)),
            _ => {}
        }
        start = after;
    }
    match begin {
        Some((number, _)) => Err((number, MarkerError::NoEnd)),
        None => Ok(found),
    }
}

/// The name of our server.
const NAME: &str = "cobalt";

/// What some assistants accept besides plain JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A new file with only our server.
pub fn new_file() -> String {
    let root = CstRootNode::parse("{\n}\n", &OPTIONS);
    let root = root.expect("an empty object is JSON");
    root.object_value_or_set().append("mcpServers", CstInputValue::Object(vec![(NAME.to_owned(), server())]));
    root.to_string()
}

/// The text with our server added. An existing server of this name is kept unchanged.
///
/// # Errors
///
/// If the text is not JSON, or has a value other than an object where servers belong.
pub fn with_server(path: &Path, text: &str) -> Result<String, AssistantsError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    if bare.trim().is_empty() {
        return Ok(new_file());
    }
    let root = CstRootNode::parse(bare, &OPTIONS).map_err(|error| AssistantsError::Json {
        path: path.to_owned(),
        line: error.line_display(),
        column: error.column_display(),
        reason: error.kind().to_string(),
    })?;
    let no_object = |what| AssistantsError::NoObject { path: path.to_owned(), what };
    let object = root.object_value().ok_or_else(|| no_object("at the root"))?;
    let servers = object.object_value_or_create("mcpServers");
    let servers = servers.ok_or_else(|| no_object("`mcpServers`"))?;
    if servers.get(NAME).is_some() {
        return Ok(text.to_owned());
    }
    servers.append(NAME, server());
    Ok(format!("{}{root}", &text[..text.len() - bare.len()]))
}

/// How to start the server. It reads keys as the command does: from the environment and from `.env`.
fn server() -> CstInputValue {
    json!({ "command": "cargo", "args": ["cobalt", "mcp"] })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn put(text: &str, content: &str) -> String {
        with_part(text, content).unwrap()
    }

    #[test]
    fn a_part_is_added_after_an_empty_line_and_then_replaced_in_place() {
        let first = put("# Ours\n", "old\n");
        assert_eq!(first, format!("# Ours\n\n{BEGIN}\nold\n{END}\n"));
        let moved = format!("{first}\nMore of ours.");
        let second = put(&moved, "new\nlonger\n");
        assert_eq!(second, format!("# Ours\n\n{BEGIN}\nnew\nlonger\n{END}\n\nMore of ours."));
        assert_eq!(put(&second, "new\nlonger\n"), second, "and then it stays");
    }

    #[test]
    fn a_text_without_an_end_of_line_or_without_anything_gets_the_part_too() {
        assert_eq!(put("last", "x"), format!("last\n\n{BEGIN}\nx\n{END}\n"));
        assert_eq!(put("", "x"), format!("{BEGIN}\nx\n{END}\n"));
    }

    #[test]
    fn ends_of_lines_and_a_byte_order_mark_are_kept() {
        let text = put("\u{feff}# Ours\r\nsecond\nthird\r\n", "a\nb\n");
        assert_eq!(text, format!("\u{feff}# Ours\r\nsecond\nthird\r\n\r\n{BEGIN}\r\na\r\nb\r\n{END}\r\n"));
        assert_eq!(put(&text, "a\nb\n"), text);
        let only = format!("\u{feff}{BEGIN}\nold\n{END}");
        assert_eq!(put(&only, "new"), format!("\u{feff}{BEGIN}\nnew\n{END}"));
    }

    #[test]
    fn unpaired_markers_are_refused_with_their_line() {
        let fault = |text: String| with_part(&text, "x").unwrap_err();
        assert_eq!(fault(format!("a\n{BEGIN}\nb\n")), (2, MarkerError::NoEnd));
        assert_eq!(fault(format!("a\nb\n  {END}\r\n")), (3, MarkerError::NoBegin));
        assert_eq!(fault(format!("{BEGIN}\n{BEGIN}\n{END}\n")), (2, MarkerError::Twice));
        assert_eq!(fault(format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n")), (3, MarkerError::Twice));
        assert_eq!(fault(format!("{BEGIN}\n{END}\n{END}\n")), (3, MarkerError::NoBegin));
    }

    #[test]
    fn a_text_that_mentions_the_markers_has_none() {
        let text = format!("We use `{BEGIN}` here.\n");
        assert!(put(&text, "x").starts_with(&format!("{text}\n{BEGIN}\n")));
    }

    fn put_server(text: &str) -> String {
        with_server(Path::new(".mcp.json"), text).unwrap()
    }

    #[test]
    fn a_new_file_starts_the_command_and_holds_no_key() {
        let value: Value = serde_json::from_str(&new_file()).unwrap();
        assert_eq!(
            value,
            serde_json::json!({ "mcpServers": { "cobalt": { "command": "cargo", "args": ["cobalt", "mcp"] } } })
        );
        assert_eq!(put_server(" \n"), new_file());
        assert_eq!(put_server(&new_file()), new_file());
    }

    #[test]
    fn other_servers_their_order_and_the_format_stay() {
        let text = "{\r\n\t\"z\": 1.0,\r\n\t\"mcpServers\": {\r\n\t\t\"web\":  { \"url\": \"https://x\" }\r\n\t},\r\n\t\"a\": null\r\n}\r\n";
        let put = put_server(text);
        let before = "{\r\n\t\"z\": 1.0,\r\n\t\"mcpServers\": {\r\n\t\t\"web\":  { \"url\": \"https://x\" },\r\n\t\t\"cobalt\": {\r\n";
        assert!(put.starts_with(before), "{put:?}");
        assert!(put.ends_with("\r\n\t},\r\n\t\"a\": null\r\n}\r\n"), "{put:?}");
        assert!(!put.replace("\r\n", "").contains('\n'), "{put:?}");
        serde_json::from_str::<Value>(&put).unwrap();
    }

    #[test]
    fn a_file_without_servers_gets_them() {
        for text in ["{}", "{\"other\": [1]}", "\u{feff}{\"mcpServers\": {}}", "{ // none yet\n}"] {
            let put = put_server(text);
            assert!(put.contains("\"cobalt\""), "{put}");
            assert_eq!(put.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        }
    }

    #[test]
    fn a_server_of_our_name_that_the_user_changed_stays() {
        let text = "{\"mcpServers\":{\"cobalt\":{\"command\":\"nix\",\"env\":{\"A\":\"b\"}}}}";
        assert_eq!(put_server(text), text);
    }

    #[test]
    fn invalid_json_is_refused_with_line_and_column() {
        let refused = |text| with_server(Path::new(".mcp.json"), text).unwrap_err().to_string();
        let broken = refused("{\n  \"a\": ,\n}");
        assert!(broken.contains("`.mcp.json`: line 2, column"), "{broken}");
        assert!(broken.contains("fix or remove the file"), "{broken}");
        assert!(refused("[]").contains("expected an object at the root"));
        assert!(refused("{\"mcpServers\": []}").contains("expected an object `mcpServers`"));
    }
}
