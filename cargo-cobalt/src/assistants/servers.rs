//! `.mcp.json`, where assistants find the servers that they may start: ours is added to it, and the rest stays as it is.

use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstRootNode};
use jsonc_parser::{ParseOptions, json};

use super::error::AssistantsError;

/// The name of our server.
const NAME: &str = "cobalt";

/// What a file may have beside plain JSON, as some assistants read it.
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

/// A file with nothing but our server.
pub(super) fn file() -> String {
    let root = CstRootNode::parse("{\n}\n", &OPTIONS);
    let root = root.expect("an empty object is JSON");
    root.object_value_or_set().append("mcpServers", CstInputValue::Object(vec![(NAME.to_owned(), server())]));
    root.to_string()
}

/// The text with our server. One of its name that is there stays, whatever the user has made of it.
///
/// # Errors
///
/// If the text is no JSON, or servers have no place in it.
pub(super) fn with_server(path: &Path, text: &str) -> Result<String, AssistantsError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    if bare.trim().is_empty() {
        return Ok(file());
    }
    let root = CstRootNode::parse(bare, &OPTIONS).map_err(|error| AssistantsError::Json {
        path: path.to_owned(),
        line: error.line_display(),
        column: error.column_display(),
        reason: error.kind().to_string(),
    })?;
    let no_object = |what| AssistantsError::NoObject { path: path.to_owned(), what };
    let object = root.object_value().ok_or_else(|| no_object("at its root"))?;
    let servers = object.object_value_or_create("mcpServers");
    let servers = servers.ok_or_else(|| no_object("`mcpServers`"))?;
    if servers.get(NAME).is_some() {
        return Ok(text.to_owned());
    }
    servers.append(NAME, server());
    Ok(format!("{}{root}", &text[..text.len() - bare.len()]))
}

/// How the server is started. It finds keys where the command does: in the environment and in `.env`.
fn server() -> CstInputValue {
    json!({ "command": "cargo", "args": ["cobalt", "mcp"] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn put(text: &str) -> String {
        with_server(Path::new(".mcp.json"), text).unwrap()
    }

    #[test]
    fn a_new_file_starts_the_command_and_holds_no_key() {
        let value: Value = serde_json::from_str(&file()).unwrap();
        assert_eq!(
            value,
            serde_json::json!({ "mcpServers": { "cobalt": { "command": "cargo", "args": ["cobalt", "mcp"] } } })
        );
        assert_eq!(put(" \n"), file());
        assert_eq!(put(&file()), file());
    }

    #[test]
    fn other_servers_their_order_and_the_format_stay() {
        let text = "{\r\n\t\"z\": 1.0,\r\n\t\"mcpServers\": {\r\n\t\t\"web\":  { \"url\": \"https://x\" }\r\n\t},\r\n\t\"a\": null\r\n}\r\n";
        let put = put(text);
        let before = "{\r\n\t\"z\": 1.0,\r\n\t\"mcpServers\": {\r\n\t\t\"web\":  { \"url\": \"https://x\" },\r\n\t\t\"cobalt\": {\r\n";
        assert!(put.starts_with(before), "{put:?}");
        assert!(put.ends_with("\r\n\t},\r\n\t\"a\": null\r\n}\r\n"), "{put:?}");
        assert!(!put.replace("\r\n", "").contains('\n'), "{put:?}");
        serde_json::from_str::<Value>(&put).unwrap();
    }

    #[test]
    fn a_file_without_servers_gets_them() {
        for text in ["{}", "{\"other\": [1]}", "\u{feff}{\"mcpServers\": {}}", "{ // none yet\n}"] {
            let put = put(text);
            assert!(put.contains("\"cobalt\""), "{put}");
            assert_eq!(put.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        }
    }

    #[test]
    fn a_server_of_our_name_that_the_user_changed_stays() {
        let text = "{\"mcpServers\":{\"cobalt\":{\"command\":\"nix\",\"env\":{\"A\":\"b\"}}}}";
        assert_eq!(put(text), text);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let refused = |text| with_server(Path::new(".mcp.json"), text).unwrap_err().to_string();
        let broken = refused("{\n  \"a\": ,\n}");
        assert!(broken.contains("`.mcp.json`: line 2, column"), "{broken}");
        assert!(broken.contains("mend the file, or remove it"), "{broken}");
        assert!(refused("[]").contains("no object at its root"));
        assert!(refused("{\"mcpServers\": []}").contains("no object `mcpServers`"));
    }
}
