//! What a source file says to the compiler: neither its comments nor its texts.

/// The code, with a space for each comment and each text.
pub(super) fn code(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    let mut is_in_name = false;
    while let Some(first) = rest.chars().next() {
        // The end of a name may look like the beginning of a raw text.
        let other = if is_in_name && first.is_alphanumeric() { 0 } else { other_than_code(rest) };
        if other > 0 {
            code.push(' ');
            rest = &rest[other..];
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
        is_in_name = other == 0 && (first.is_alphanumeric() || first == '_');
    }
    code
}

/// The length of the comment or text that this begins with.
fn other_than_code(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    // A quote as a character begins no text.
    if let Some(quote) = ["'\"'", "'\\\"'"].into_iter().find(|quote| text.starts_with(quote)) {
        return quote.len();
    }
    if text.starts_with('"') {
        return escaped_text(text);
    }
    let raw = ["br", "cr", "r"].into_iter().find_map(|prefix| text.strip_prefix(prefix));
    raw.and_then(raw_text).map_or(0, |behind| text.len() - behind.len())
}

/// What is behind a raw text, of which this is all but the letter.
fn raw_text(text: &str) -> Option<&str> {
    let quoted = text.trim_start_matches('#');
    let hashes = &text[..text.len() - quoted.len()];
    let content = quoted.strip_prefix('"')?;
    Some(content.split_once(&format!("\"{hashes}")).map_or("", |(_, behind)| behind))
}

/// Comments of this kind lie in one another.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '*']) {
        at += found;
        let step = match text.get(at..at + 2) {
            Some("/*") => {
                depth += 1;
                2
            }
            Some("*/") => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn escaped_text(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_left_out() {
        let cases = [
            ("a(); // fn main\nb();", "a();  \nb();"),
            ("/// docs\n/* x /* y */ z */fn f() {}", " \n fn f() {}"),
            ("f(\"data/*.jsonl\", 1); g()", "f( , 1); g()"),
            ("f(\"https://host \\\" //\"); g()", "f( ); g()"),
            ("f(r\"\\\", r#\"a \"/* b\"#); var\"x\"", "f( ,  ); var "),
            ("f('\"', '\\\"', 'a); g(1 / 2 * 3)", "f( ,  , 'a); g(1 / 2 * 3)"),
            ("/* not closed fn main()", " "),
            ("é /*é*/ é", "é   é"),
        ];
        for (source, expected) in cases {
            assert_eq!(code(source), expected, "{source}");
        }
    }
}
