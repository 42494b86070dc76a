//! The editor in which the dashboard opens files: `dashboard.editor`.

use serde::Serialize;

use crate::settings::deserialize_from_str;

/// The URL that opens a file in an editor, with `{path}`, `{line}` and `{column}` to replace. An absolute path starts with a slash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditorUrl(pub String);

/// The known editors with their URLs. Other URLs must start with one of their schemes: the page makes a link of it.
const EDITORS: [(&str, &str); 6] = [
    ("vscode", "vscode://file{path}:{line}:{column}"),
    ("vscode-insiders", "vscode-insiders://file{path}:{line}:{column}"),
    ("vscodium", "vscodium://file{path}:{line}:{column}"),
    ("cursor", "cursor://file{path}:{line}:{column}"),
    ("zed", "zed://file{path}:{line}:{column}"),
    ("idea", "idea://open?file={path}&line={line}&column={column}"),
];

const PATH: &str = "{path}";

deserialize_from_str! {
    EditorUrl: "an editor or a URL with `{path}` in quotes",
    |text| {
        if let Some((_, url)) = EDITORS.iter().find(|(name, _)| *name == text) {
            return Ok(Self((*url).to_owned()));
        }
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let is_known = EDITORS.iter().any(|(name, _)| Some(*name) == scheme);
        let is_url = text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '`' | '\\'));
        match is_known && is_url && text.contains(PATH) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!(
                "expected one of {}, or a URL that starts with one of these and `://`, such as \
                 \"vscode://file{{path}}:{{line}}:{{column}}\"",
                EDITORS.map(|(name, _)| format!("\"{name}\"")).join(", ")
            )),
        }
    }
}

#[cfg(feature = "schema")]
crate::settings::inline_schemas! {
    EditorUrl: {
        "anyOf": [
            { "enum": ["vscode", "vscode-insiders", "vscodium", "cursor", "zed", "idea"] },
            { "type": "string", "pattern": r"^(vscode|vscode-insiders|vscodium|cursor|zed|idea)://.*\{path\}" },
        ],
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_stands_for_its_url() {
        assert_eq!(EditorUrl::read("zed").unwrap().0, "zed://file{path}:{line}:{column}");
        assert_eq!(EditorUrl::read("idea").unwrap().0, "idea://open?file={path}&line={line}&column={column}");
        let own = "vscode://vscode-remote/ssh-remote+desk{path}:{line}";
        assert_eq!(EditorUrl::read(own).unwrap().0, own);
    }

    #[test]
    fn a_url_that_could_do_anything_else_is_refused() {
        for url in [
            "emacs",
            "",
            "VSCODE://file{path}",
            "vscode://file",
            "vscode:{path}",
            "javascript:alert(1)//{path}",
            "javascript://vscode://%0aalert(1){path}",
            "http://localhost/{path}",
            "data:text/html,{path}",
            " vscode://file{path}",
            "vscode://file{path}\" onclick=\"alert(1)",
            "vscode://file{path}\n",
            "file://{path}",
        ] {
            let error = EditorUrl::read(url).unwrap_err();
            assert!(error.starts_with("expected one of \"vscode\", "), "{url}: {error}");
        }
    }
}
