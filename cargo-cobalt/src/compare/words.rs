//! What the text for terminals and the Markdown say alike.

use cobalt::report::comparison::{Comparison, Difference, Matching, RunIdentity, Verdict};
use cobalt::report::{GitState, Timestamp};
use cobalt::reporters::DifferenceFigures;

use crate::runs::short;
use crate::terminal::one_line;

/// The titles of a table of differences, but that of the first column.
pub(crate) const TITLES: [&str; 7] =
    ["base", "other", "change", "95 % interval", "p", "detectable", "verdict"];
/// The most keys of items that are named.
const KEYS: usize = 3;

/// All that was compared.
pub(crate) fn differences(comparison: &Comparison) -> impl Iterator<Item = &Difference> {
    comparison.evaluators.iter().chain(&comparison.amounts)
}

/// A difference in the columns of [`TITLES`].
pub(crate) fn cells(difference: &Difference) -> [String; TITLES.len()] {
    let figures = DifferenceFigures::from(difference);
    [
        figures.base,
        figures.other,
        figures.difference,
        figures.ci95.unwrap_or_default(),
        figures.p.unwrap_or_default(),
        figures.smallest_detectable.unwrap_or_default(),
        difference.verdict.to_string(),
    ]
}

/// The verdicts that deserve to be said first, each with what it is on. Without any, no difference was seen.
pub(crate) fn headline(comparison: &Comparison) -> Vec<(Verdict, Vec<&str>)> {
    let verdicts = [Verdict::Worse, Verdict::Better, Verdict::Inconclusive];
    let names = |verdict: Verdict| {
        let those = differences(comparison).filter(|it| it.verdict == verdict);
        (verdict, those.map(|it| &*it.name).collect::<Vec<_>>())
    };
    verdicts.map(names).into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

/// The title: the experiments that are compared.
pub(crate) fn experiments(comparison: &Comparison) -> String {
    let (base, other) = (one_line(&comparison.base.name), one_line(&comparison.other.name));
    if base == other { other } else { format!("{other} against {base}") }
}

/// What is said where there is no verdict to be said first.
pub(crate) fn without_headline(comparison: &Comparison) -> Option<&'static str> {
    if differences(comparison).next().is_none() {
        Some("nothing to compare: no figure is in both runs")
    } else if headline(comparison).is_empty() {
        Some("no difference seen (within noise)")
    } else {
        None
    }
}

/// When a run started, in UTC and to the minute.
pub(crate) fn start(run: &RunIdentity) -> String {
    minute(run.timestamp)
}

/// A moment in UTC and to the minute.
pub(crate) fn minute(moment: Timestamp) -> String {
    moment.to_string()[..16].replace('T', " ")
}

/// The commit that a run was made on.
pub(crate) fn commit(run: &RunIdentity) -> Option<String> {
    commit_of(run.git.as_ref())
}

/// A commit, and whether files differed from it.
pub(crate) fn commit_of(git: Option<&GitState>) -> Option<String> {
    let git = git?;
    let hash = one_line(short(&git.commit));
    Some(if git.dirty { format!("{hash} with changes") } else { hash })
}

/// How large a run is.
pub(crate) fn size(run: &RunIdentity) -> String {
    let items = format!("{} item{}", run.items, if run.items == 1 { "" } else { "s" });
    if run.runs > 1 { format!("{items}, {} runs each", run.runs) } else { items }
}

/// Which items the runs have in common; names of items are set off as `quote` does it.
pub(crate) fn matching(items: &Matching, quote: impl Fn(&str) -> String) -> String {
    let keys = |keys: &[String]| {
        let mut named: Vec<_> = keys.iter().take(KEYS).map(|key| quote(key)).collect();
        if keys.len() > KEYS {
            named.push(format!("{} more", keys.len() - KEYS));
        }
        named.join(", ")
    };
    let mut parts = vec![format!("{} in both runs", items.matched)];
    for (those, what) in
        [(&items.changed, "with other content"), (&items.added, "added"), (&items.removed, "removed")]
    {
        if !those.is_empty() {
            parts.push(format!("{} {what} ({})", those.len(), keys(those)));
        }
    }
    parts.join(", ")
}

/// How p-values are to be read, where several were corrected together.
pub(crate) fn correction(comparison: &Comparison) -> Option<String> {
    let corrected = comparison.evaluators.iter().any(|it| it.p_adjusted != it.p_value);
    let amounts = comparison.amounts.iter().any(|it| it.p_adjusted != it.p_value);
    (corrected || amounts)
        .then(|| "p-values are corrected by Holm's method, for all scores and for all amounts".to_owned())
}

/// Why two runs cannot be compared.
pub(crate) fn nothing_in_common(comparison: &Comparison) -> String {
    let (base, other) = (&comparison.base, &comparison.other);
    let key = |keys: &[String]| keys.first().map_or("none".to_owned(), |key| format!("`{}`", one_line(key)));
    format!(
        "the runs {} (`{}`) and {} (`{}`) have no item in common: items are matched by their `id`, or by a hash of their \
         input; the first are {} and {}",
        one_line(&base.id),
        one_line(&base.name),
        one_line(&other.id),
        one_line(&other.name),
        key(&comparison.items.removed),
        key(&comparison.items.added)
    )
}
