//! What the items of two runs asked the model: per item, the hashes of all messages are compared.

use std::fmt;

use super::pairs::Pair;
use super::{AskedComparison, DivergedItem};
use crate::report::{Measurements, SETTINGS_HASH_PREFIX};
use crate::wording::{count, group_thousands};

/// The maximum number of diverged items to list.
const MAX_LISTED: usize = 1000;
/// The maximum number of them to name in the sentence.
const MAX_NAMED: usize = 5;

impl AskedComparison {
    /// `None` if the two are the same run, or if no item's model traffic is known in both.
    pub(super) fn of(base: &Measurements, other: &Measurements, pairs: &[Pair<'_>]) -> Option<Self> {
        if base.id == other.id {
            return None;
        }
        let is_known =
            |pair: &&Pair<'_>| [pair.base, pair.other].iter().all(|item| item.asked().next().is_some());
        let (mut items, mut same, mut diverged) = (0, 0, Vec::new());
        for pair in pairs.iter().filter(is_known) {
            items += 1;
            if is_same(pair) {
                same += 1;
            } else if diverged.len() < MAX_LISTED {
                diverged.push(DivergedItem::of(pair));
            }
        }
        (items > 0).then_some(Self { items, same, diverged })
    }

    /// The number of items that asked something else, including those that are not listed.
    #[must_use]
    pub fn diverged_count(&self) -> usize {
        self.items.saturating_sub(self.same)
    }
}

/// ``41 of 45 items asked the model exactly what they asked before; 4 diverged: `refund` at message 3, …``
impl fmt::Display for AskedComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grouped = |number: usize| group_thousands(number as u64);
        let items = count(self.items, "item");
        write!(f, "{} of {items} asked the model exactly what they asked before", grouped(self.same))?;
        let diverged = self.diverged_count();
        if diverged == 0 {
            return Ok(());
        }
        let named = &self.diverged[..self.diverged.len().min(MAX_NAMED)];
        let mut texts = Vec::new();
        for of_one_place in named.chunk_by(|one, next| one.message == next.message) {
            let keys: Vec<_> = of_one_place.iter().map(|item| format!("`{}`", item.key)).collect();
            texts.push(format!("{} {}", keys.join(", "), of_one_place[0].place()));
        }
        if diverged > named.len() {
            texts.push(format!("and {} more", grouped(diverged - named.len())));
        }
        write!(f, "; {} diverged: {}", grouped(diverged), texts.join("; "))
    }
}

/// The hashes of both sides.
fn asked<'a>(pair: &Pair<'a>) -> [Vec<&'a str>; 2] {
    [pair.base, pair.other].map(|item| item.asked().collect())
}

/// Whether the same was asked. Requests that an agent sends in parallel arrive in any order.
fn is_same(pair: &Pair<'_>) -> bool {
    let [mut base, mut other] = asked(pair);
    base.sort_unstable();
    other.sort_unstable();
    base == other
}

impl DivergedItem {
    fn of(pair: &Pair<'_>) -> Self {
        let [base, other] = asked(pair);
        let same = base.iter().zip(&other).take_while(|(one, other)| one == other).count();
        // Messages are counted from the beginning of their conversation, whose first hash is that of everything but the messages.
        let longer = if same < other.len() { other } else { base };
        let start = longer
            .iter()
            .take(same + 1)
            .rposition(|hash| hash.starts_with(SETTINGS_HASH_PREFIX))
            .unwrap_or(0);
        Self { key: pair.other.key().to_owned(), message: (same > start).then_some(same - start) }
    }

    /// Where it diverged: `at message 3`.
    fn place(&self) -> String {
        match self.message {
            Some(message) => format!("at message {message}"),
            None => "in the model, the tools or the settings".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::comparison::{Comparison, compare};

    /// A run whose items asked this; each text is a hash.
    fn run(id: &str, asked: &[&[&str]]) -> Measurements {
        let item = |(index, asked): (usize, &&[&str])| json!({ "key": format!("i{index}"), "content": "1", "latencyMs": 1.0, "scores": {}, "asked": asked });
        let items: Vec<_> = asked.iter().enumerate().map(item).collect();
        let run = json!({ "measurements": 1, "id": id, "name": "desk", "timestamp": "2026-11-21T00:00:00Z", "runs": 1,
            "evaluators": [], "items": items });
        serde_json::from_value(run).unwrap()
    }

    fn compared(base: &Measurements, other: &Measurements) -> Comparison {
        compare(base, &[other]).remove(0)
    }

    #[test]
    fn diverged_items_are_listed_with_the_message() {
        let before = run("a", &[&["m", "1", "2"], &["m", "1", "2"], &["m", "1"], &["m", "1"], &[]]);
        let now = run("b", &[&["m", "1", "2"], &["m", "1", "3"], &["n", "1"], &["m", "1", "2"], &["m"]]);
        let Comparison { asked, notes, .. } = compared(&before, &now);
        assert_eq!(
            json!(asked),
            json!({ "items": 4, "same": 1, "diverged": [
                { "key": "i1", "message": 2 }, { "key": "i2" }, { "key": "i3", "message": 2 },
            ] })
        );
        let sentence = "1 of 4 items asked the model exactly what they asked before; 3 diverged: `i1` at message 2; `i2` in the \
                        model, the tools or the settings; `i3` at message 2";
        assert_eq!(notes, [sentence]);
        let read: AskedComparison = serde_json::from_value(json!(asked)).unwrap();
        assert_eq!(Some(read), asked);
    }

    #[test]
    fn messages_are_counted_from_the_beginning_of_their_conversation() {
        let of_two: &[&str] = &["sa", "1", "2", "sb", "3", "4"];
        let before = run("a", &[of_two; 4]);
        let now = run(
            "b",
            &[
                &["sa", "1", "2", "sb", "3", "5"],
                &["sa", "1", "2", "sc", "3", "4"],
                &["sa", "1", "2"],
                // The order of parallel requests does not count.
                &["sb", "3", "4", "sa", "1", "2"],
            ],
        );
        let asked = compared(&before, &now).asked.unwrap();
        let places: Vec<_> = asked.diverged.iter().map(|item| (&*item.key, item.message)).collect();
        assert_eq!(places, [("i0", Some(2)), ("i1", None), ("i2", None)]);
    }

    #[test]
    fn of_many_diverged_items_the_first_are_listed_and_all_are_counted() {
        let [before, now] = ["1", "2"].map(|message| {
            let (same, diverged): (&[_], &[_]) = (&["m", "0"], &["m", message]);
            run(message, &[vec![same; 1100], vec![diverged; 1207]].concat())
        });
        let asked = compared(&before, &now).asked.unwrap();
        assert_eq!((asked.items, asked.same, asked.diverged_count()), (2307, 1100, 1207));
        assert_eq!((asked.diverged.len(), &*asked.diverged[999].key), (1000, "i2099"));
        assert_eq!(
            asked.to_string(),
            "1,100 of 2,307 items asked the model exactly what they asked before; 1,207 diverged: `i1100`, \
             `i1101`, `i1102`, `i1103`, `i1104` at message 1; and 1,202 more"
        );
    }

    #[test]
    fn nothing_is_said_unless_the_traffic_of_both_runs_is_known() {
        let [known, unknown] = [("a", &["m", "1"] as &[_]), ("b", &[])].map(|(id, asked)| run(id, &[asked]));
        let nothing = compared(&known, &unknown);
        assert_eq!((nothing.asked.as_ref(), &*nothing.notes), (None, &[] as &[String]));
        let json = json!(nothing);
        assert!(json.get("asked").is_none(), "{json}");
        assert_eq!(serde_json::from_value::<Comparison>(json).unwrap(), nothing, "as in earlier files");
        let itself = compared(&known, &known);
        assert_eq!((itself.asked, itself.notes), (None, vec!["both sides are the same run".to_owned()]));
    }
}
