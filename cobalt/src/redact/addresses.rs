//! Secrets in addresses: the password before the host, and the path of a chat's webhook.

use std::ops::Range;

use super::marks;
use super::random::is_random;

/// Schemes of databases and mail servers, in whose addresses people write passwords without escaping them.
const WITH_PASSWORDS: [&str; 22] = [
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
/// What stands before `@` in the name of an image, and is no host.
const DIGESTS: [&[u8]; 3] = [b"sha256", b"sha384", b"sha512"];

/// How far an address reaches: printable ASCII without spaces, quotes and brackets.
fn reach(text: &[u8], start: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let ends = |byte: u8| !byte.is_ascii_graphic() || b"\"'`<>\\".contains(&byte) || is_end(byte);
    start + text[start..].iter().position(|byte| ends(*byte)).unwrap_or(text.len() - start)
}

/// The text up to where the next address follows, so that no part of a text is read for more than one.
fn up_to_next(text: &[u8], start: usize) -> &[u8] {
    let next = memchr::memmem::find(&text[start..], b"://");
    &text[..next.map_or(text.len(), |next| start + next)]
}

/// The scheme before `://`, in its own letters.
fn scheme(text: &[u8], mark: usize) -> Option<&str> {
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
    let length = text[..mark].iter().rev().take(24).take_while(|byte| is_of_scheme(byte)).count();
    let scheme = std::str::from_utf8(&text[mark - length..mark]).ok()?;
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()).then_some(scheme)
}

/// The password in an address, `postgres://user:password@host`, by the place of its `://`.
pub(super) fn password(text: &[u8], mark: usize) -> Option<Range<usize>> {
    let scheme = scheme(text, mark)?;
    let start = mark + 3;
    let end = reach(text, start, |byte| b"/?#".contains(&byte));
    let authority = &text[start..end];
    let end = match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) if !WITH_PASSWORDS.contains(&scheme) => start + at,
        _ if WITH_PASSWORDS.contains(&scheme) => {
            let colon = authority.iter().position(|byte| *byte == b':')?;
            let is_port = authority[colon + 1..].iter().all(u8::is_ascii_digit);
            if is_port && !authority.contains(&b'@') {
                return None;
            }
            // A password that is not escaped may hold `@` and `/`.
            let text = up_to_next(text, start);
            start + text[start..reach(text, start, |_| false)].iter().rposition(|byte| *byte == b'@')?
        }
        _ => return None,
    };
    let user = text[start..end].iter().position(|byte| *byte == b':')?;
    let password = start + user + 1..end;
    if !WITH_PASSWORDS.contains(&scheme) && is_port_before_more(&text[password.clone()]) {
        return None;
    }
    (is_password(&text[password.clone()]) && is_host(&text[end + 1..])).then_some(password)
}

/// Whether a host's port stands there, with something else in the next column, as in `http://localhost:3000,me@example.com`.
fn is_port_before_more(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=5).contains(&digits) && text.get(digits).is_some_and(|byte| b",;|".contains(byte))
}

/// Whether a password stands there, and not its place: `${PASSWORD}`, `***`.
fn is_password(text: &[u8]) -> bool {
    let is_placeholder =
        text.first().is_none_or(|byte| b"${<%".contains(byte)) || text.iter().all(|byte| *byte == b'*');
    let is_braced = text.iter().any(|byte| b"{}()".contains(byte));
    !is_placeholder && !is_braced && !text.contains(&b'[')
}

/// Whether a host follows, with a port where there is one.
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

/// The path by which anybody may write to a chat, `https://hooks.slack.com/services/…`, by the place of `://`.
pub(super) fn webhook(text: &[u8], mark: usize) -> Option<Range<usize>> {
    if !text[..mark].ends_with(b"http") && !text[..mark].ends_with(b"https") {
        return None;
    }
    let start = mark + 3;
    let slash = reach(text, start, |byte| b"/?#:@".contains(&byte));
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
    let path = slash + 1..reach(up_to_next(text, slash), slash + 1, |byte| b"()[],;".contains(&byte));
    let has_key = || text[path.clone()].split(|byte| *byte == b'/').any(|part| is_random(part, 12));
    (!path.is_empty() && (is_known || has_key())).then_some(path)
}
