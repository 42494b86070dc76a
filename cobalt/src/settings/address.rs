//! Addresses of HTTP, as settings have them.

/// Whether a text has the form of an address of HTTP: a host and nothing that no address holds.
pub(crate) fn is_address(text: &str) -> bool {
    let rest = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
    rest.is_some_and(|rest| !host(rest).is_empty() && !rest.contains(is_odd))
}

/// The host, and the port if one is written, of an address without its scheme.
pub(crate) fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}
