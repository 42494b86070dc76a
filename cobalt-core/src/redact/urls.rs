//! Secrets in URLs: the password before the host, and the path of a chat webhook.

use std::ops::Range;

use super::key_format_table::{EQUALS, PLUS_SLASH, URL_SAFE, is_of};
use super::key_formats::{self, end_of_run, is_random};
use super::marks;

/// Schemes of databases and mail servers, whose URLs often contain unescaped passwords.
const PASSWORD_SCHEMES: [&str; 22] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "clickhouse",
    "cassandra",
    "neo4j",
    "bolt",
    "ftp",
    "ftps",
    "sftp",
    "smtp",
    "smtps",
    "ldap",
];
/// Other schemes whose URLs may name a user and a password.
const ACCOUNT_SCHEMES: [&str; 8] = ["http", "https", "ws", "wss", "git", "svn", "ssh", "socks5"];
/// The minimum number of letters and digits of a key in the place of a user.
const SHORTEST_USER: usize = 16;
/// Digest algorithms after `@` in image names, which are not hosts.
const DIGESTS: [&[u8]; 3] = [b"sha256", b"sha384", b"sha512"];

/// The end of a URL: it consists of printable ASCII without spaces, quotes and angle brackets.
fn end_of_url(text: &[u8], start: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let ends = |byte: u8| !byte.is_ascii_graphic() || b"\"'`<>\\".contains(&byte) || is_end(byte);
    start + text[start..].iter().position(|byte| ends(*byte)).unwrap_or(text.len() - start)
}

/// The text before the next URL, so no part of a text is read for more than one URL.
fn before_next_url(text: &[u8], start: usize) -> &[u8] {
    let next = memchr::memmem::find(&text[start..], b"://");
    &text[..next.map_or(text.len(), |next| start + next)]
}

/// The scheme before `://`, in its original case.
fn scheme(text: &[u8], mark: usize) -> Option<&str> {
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
    let length = text[..mark].iter().rev().take(24).take_while(|byte| is_of_scheme(byte)).count();
    let scheme = std::str::from_utf8(&text[mark - length..mark]).ok()?;
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()).then_some(scheme)
}

/// The password in a URL such as `postgres://user:password@host`, by the position of `://`.
pub fn password(text: &[u8], mark: usize) -> Option<Range<usize>> {
    let scheme = scheme(text, mark)?;
    // Such as `postgresql+asyncpg` and `git+https`.
    let mut names = scheme.split('+').chain([scheme]);
    let is_of_database = names.clone().any(|name| PASSWORD_SCHEMES.contains(&name));
    let is_of_accounts = is_of_database || names.any(|name| ACCOUNT_SCHEMES.contains(&name));
    let start = mark + 3;
    let end = end_of_url(text, start, |byte| b"/?#".contains(&byte));
    let authority = &text[start..end];
    let end = match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) if !is_of_database => start + at,
        _ if is_of_database => {
            let colon = authority.iter().position(|byte| *byte == b':')?;
            let is_port = authority[colon + 1..].iter().all(u8::is_ascii_digit);
            if is_port && !authority.contains(&b'@') {
                return None;
            }
            // An unescaped password may contain `@` and `/`.
            let text = before_next_url(text, start);
            start + text[start..end_of_url(text, start, |_| false)].iter().rposition(|byte| *byte == b'@')?
        }
        _ => return None,
    };
    let colon = text[start..end].iter().position(|byte| *byte == b':');
    let user = start..colon.map_or(end, |colon| start + colon);
    if is_of_accounts && is_random(&text[user.clone()], SHORTEST_USER) && is_host(&text[end + 1..]) {
        return Some(start..end);
    }
    let password = start + colon? + 1..end;
    let written = &text[password.clone()];
    if !is_of_database && is_port_before_more(written) {
        return None;
    }
    // Other schemes have versions and labels in these places: `npm://react:dom@18`.
    let is_likely = is_of_accounts || key_formats::is_password(written);
    (is_likely && is_password(written) && is_host(&text[end + 1..])).then_some(password)
}

/// Whether the text is a port followed by something else, as in `http://localhost:3000,me@example.com`.
fn is_port_before_more(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=5).contains(&digits) && text.get(digits).is_some_and(|byte| b",;|".contains(byte))
}

/// Whether the text is a password, not a placeholder such as `${PASSWORD}` or `***`.
fn is_password(text: &[u8]) -> bool {
    let is_placeholder =
        text.first().is_none_or(|byte| b"${<%".contains(byte)) || text.iter().all(|byte| *byte == b'*');
    let is_braced = text.iter().any(|byte| b"{}()".contains(byte));
    !is_placeholder && !is_braced && !text.contains(&b'[')
}

/// Whether a host follows, with an optional port.
fn is_host(text: &[u8]) -> bool {
    if let [b'[', rest @ ..] = text {
        return rest.iter().take(48).any(|byte| *byte == b']') && !marks::begins_at(text, 0);
    }
    let is_of_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    let length = text.iter().take(254).take_while(is_of_host).count();
    let (host, rest) = text.split_at(length);
    let is_port =
        || rest.iter().skip(1).take_while(|byte| byte.is_ascii_alphanumeric()).all(u8::is_ascii_digit);
    length > 0 && !DIGESTS.contains(&host) && (rest.first() != Some(&b':') || is_port())
}

/// The secret path of a chat webhook such as `https://hooks.slack.com/services/…`, by the position of `://`.
pub fn webhook(text: &[u8], mark: usize) -> Option<Range<usize>> {
    if !text[..mark].ends_with(b"http") && !text[..mark].ends_with(b"https") {
        return None;
    }
    let start = mark + 3;
    let slash = end_of_url(text, start, |byte| b"/?#:@".contains(&byte));
    let host = std::str::from_utf8(&text[start..slash]).ok()?;
    let begins = |begin: &[u8]| text[slash..].starts_with(begin);
    let is_discord = ["discord.com", "discordapp.com"].iter().any(|known| host.ends_with(known));
    let is_known = host == "hooks.slack.com"
        && [&b"/services/"[..], b"/workflows/", b"/triggers/"].iter().any(|path| begins(path))
        || is_discord && begins(b"/api/webhooks/")
        || host.ends_with(".webhook.office.com")
        || host == "hooks.zapier.com" && begins(b"/hooks/");
    let is_likely = host.starts_with("hooks.") || host.contains(".webhook.");
    if !is_known && !is_likely || text.get(slash) != Some(&b'/') {
        return None;
    }
    let path =
        slash + 1..end_of_url(before_next_url(text, slash), slash + 1, |byte| b"()[],;".contains(&byte));
    let has_key = || text[path.clone()].split(|byte| *byte == b'/').any(|part| is_random(part, 12));
    (!path.is_empty() && (is_known || has_key())).then_some(path)
}

/// The shortest run of base64 that may hide a key.
const SHORTEST_BASE64: usize = 24;
/// The longest one: longer runs are files.
const LONGEST_BASE64: usize = 64 * 1024;

/// The runs of base64 in a text that decode to texts, with these.
pub fn base64_texts(text: &[u8]) -> impl Iterator<Item = (Range<usize>, Vec<u8>)> {
    let is_of_run = |byte: &u8| is_of(*byte, URL_SAFE | PLUS_SLASH);
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    let mut at = 0;
    let runs = std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(is_of_run)?;
        let length = text[start..].iter().position(|byte| !is_of_run(byte)).unwrap_or(text.len() - start);
        at = end_of_run(text, start + length, EQUALS, 2);
        Some(start..at)
    });
    let decoded = move |run: Range<usize>| {
        let encoded = &text[run.clone()];
        // Most other texts are recognized by their first bytes.
        if !key_formats::decode_base64(&encoded[..16])?.iter().all(is_plain) {
            return None;
        }
        let decoded = key_formats::decode_base64(encoded)?;
        let is_text = decoded.iter().all(|byte| is_plain(byte) || !byte.is_ascii());
        (is_text && std::str::from_utf8(&decoded).is_ok()).then_some((run, decoded))
    };
    runs.filter(|run| (SHORTEST_BASE64..=LONGEST_BASE64).contains(&run.len())).filter_map(decoded)
}

/// An unescaped text.
#[derive(Debug)]
pub struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// The position after each escape: in `bytes`, and in the text.
    places: Vec<(usize, usize)>,
}

impl Decoded {
    /// Maps a range of `bytes` to the text.
    pub fn place(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| match self.places.partition_point(|(here, _)| *here <= at).checked_sub(1) {
            Some(last) => self.places[last].1 + at - self.places[last].0,
            None => at,
        };
        place(range.start)..place(range.end)
    }
}

/// Whether a JSON escape may represent a byte of this alphabet.
pub fn may_need_json_decoding(text: &[u8], alphabet: &[bool; 256]) -> bool {
    memchr::memchr_iter(b'\\', text).any(|at| match text.get(at + 1) {
        Some(b'u') => true,
        Some(byte @ (b'"' | b'/')) => alphabet[usize::from(*byte)],
        Some(b'n') => alphabet[usize::from(b'\n')],
        Some(b't') => alphabet[usize::from(b'\t')],
        Some(b'r') => alphabet[usize::from(b'\r')],
        Some(b'b') => alphabet[8],
        Some(b'f') => alphabet[12],
        Some(b'\\') => alphabet[usize::from(b'\\')],
        _ => false,
    })
}

/// Whether percent-encoding may represent a byte of this alphabet, or `%` itself.
pub fn may_need_percent_decoding(text: &[u8], alphabet: &[bool; 256]) -> bool {
    memchr::memchr_iter(b'%', text).any(|at| {
        let digit = |at: usize| text.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let byte = digit(at + 1).zip(digit(at + 2)).map(|(high, low)| (high * 16 + low) as u8);
        byte.is_some_and(|byte| byte == b'%' || alphabet[usize::from(byte)])
    })
}

/// Decodes percent-encoding; `None` if there is none.
pub fn decode_percent(text: &[u8]) -> Option<Decoded> {
    decode(text, b'%', |escape, bytes| {
        let [high, low] = [escape.get(1)?, escape.get(2)?].map(|digit| char::from(*digit).to_digit(16));
        bytes.push((high? * 16 + low?) as u8);
        Some(3)
    })
}

/// Decodes JSON escapes; `None` if there are none.
pub fn decode_json(text: &[u8]) -> Option<Decoded> {
    decode(text, b'\\', |escape, bytes| {
        let byte = match escape.get(1)? {
            b'u' => return unicode(escape, bytes),
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            byte @ (b'"' | b'\\' | b'/') => *byte,
            _ => return None,
        };
        bytes.push(byte);
        Some(2)
    })
}

/// Decodes `\u0041`, or a surrogate pair.
fn unicode(escape: &[u8], bytes: &mut Vec<u8>) -> Option<usize> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    let (units, length) = match unit(6) {
        Some(second) if (0xD800..0xDC00).contains(&first) => (vec![first, second], 12),
        _ => (vec![first], 6),
    };
    let letter = char::decode_utf16(units).next()?.ok()?;
    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    Some(length)
}

/// Decodes all escapes, which start with `mark`, using `rollback`, which returns the length of the escape.
fn decode(text: &[u8], mark: u8, undo: impl Fn(&[u8], &mut Vec<u8>) -> Option<usize>) -> Option<Decoded> {
    let mut from = memchr::memchr(mark, text)?;
    let mut decoded = Decoded { bytes: text[..from].to_vec(), places: Vec::new() };
    while from < text.len() {
        match undo(&text[from..], &mut decoded.bytes) {
            Some(length) => {
                from += length;
                decoded.places.push((decoded.bytes.len(), from));
            }
            None => {
                decoded.bytes.push(mark);
                from += 1;
            }
        }
        let next = memchr::memchr(mark, &text[from..]).map_or(text.len(), |next| from + next);
        decoded.bytes.extend_from_slice(&text[from..next]);
        from = next;
    }
    (!decoded.places.is_empty()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_found_in_the_text_again() {
        let text = "a%20b\\\"c\\u00e4%C3%A4d\\ud83d\\ude00e %zz \\q";
        let percent = decode_percent(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8_lossy(&percent.bytes), "a b\\\"c\\u00e4äd\\ud83d\\ude00e %zz \\q");
        let json = decode_json(&percent.bytes).unwrap();
        assert_eq!(String::from_utf8_lossy(&json.bytes), "a b\"cääd😀e %zz \\q");
        let decoded = String::from_utf8_lossy(&json.bytes).into_owned();
        for (part, written) in [
            (" b", "%20b"),
            ("\"c", "\\\"c"),
            ("ää", "\\u00e4%C3%A4"),
            ("😀", "\\ud83d\\ude00"),
            ("e %zz \\q", "e %zz \\q"),
        ] {
            let start = decoded.find(part).unwrap();
            let place = percent.place(&json.place(&(start..start + part.len())));
            assert_eq!(&text[place], written);
        }
        assert!(decode_percent(b"100 %").is_none() && decode_json(b"plain").is_none());
    }
}
