/// The teams and their keywords.
const TEAMS: [(&str, &[&str]); 3] = [
    ("billing", &["charge", "invoice", "card", "renew"]),
    ("technical", &["crash", "error", "slow", "freezes"]),
    ("account", &["password", "log in", "email address"]),
];

/// Returns the team for a support message: the one with the most keywords in it.
pub fn route(message: &str) -> &'static str {
    let message = message.to_lowercase();
    let mut best = ("general", 0);
    for (team, words) in TEAMS {
        let found = words.iter().filter(|word| message.contains(**word)).count();
        if found > best.1 {
            best = (team, found);
        }
    }
    best.0
}
