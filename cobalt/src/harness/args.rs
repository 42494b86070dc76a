//! The command line: all arguments of libtest, and which experiments its filters select.
//!
//! libtest-mimic accepts most of them; they are first normalised for those that it rejects.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::io::IsTerminal as _;

use libtest_mimic::{Arguments, ColorSetting, FormatSetting};

use cobalt_core::experiment_name::{self, case_name};
use cobalt_core::pattern::Pattern;
use cobalt_core::reporters::Style;

/// The parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// The arguments for libtest-mimic, without filters.
    pub(super) mimic: Arguments,
    filters: Vec<String>,
    /// Declared names of experiments by their names in test cases, for those that differ.
    declared: HashMap<String, String>,
    /// The seed for shuffling the cases.
    pub(super) shuffle: Option<u64>,
    /// Whether to stop after the first failure.
    pub(super) fail_fast: bool,
}

/// Options whose value may be the next argument.
const OPTIONS_WITH_VALUE: [&str; 5] = ["--test-threads", "--logfile", "--skip", "--color", "--format"];
/// Flags of libtest without effect here: nothing is captured, timed or forked.
const IGNORED_FLAGS: [&str; 5] =
    ["--force-run-in-process", "--exclude-should-panic", "--report-time", "--ensure-time", "--no-capture"];

impl Args {
    /// Parses the arguments of this process; for help or an error, prints it and exits.
    pub fn from_process() -> Self {
        let mut arguments = std::env::args();
        let program = arguments.next().unwrap_or_default();
        match Self::read(program, arguments.collect(), |name| std::env::var(name).ok()) {
            Ok(args) => args,
            Err(message) => {
                eprintln!("error: {message}");
                super::exit_guard::exit(2);
            }
        }
    }

    fn read(
        program: String,
        mut arguments: VecDeque<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut args = Self::default();
        let mut known = vec![program];
        while let Some(argument) = arguments.pop_front() {
            let (name, value) = argument.split_once('=').map_or((&*argument, None), |(n, v)| (n, Some(v)));
            let mut value = || value.map(str::to_owned).or_else(|| arguments.pop_front());
            match name {
                "--" => args.filters.extend(arguments.drain(..)),
                "--fail-fast" => args.fail_fast = true,
                "--shuffle" => args.shuffle = args.shuffle.or_else(|| Some(fastrand::u64(..))),
                "--shuffle-seed" => args.shuffle = Some(parse_number("--shuffle-seed", value())?),
                name if IGNORED_FLAGS.contains(&name) => {}
                // As one argument, because the value may begin with a dash.
                "-Z" => known.push(format!("-Z{}", value().unwrap_or_default())),
                name if OPTIONS_WITH_VALUE.contains(&name) => known.push(match value() {
                    Some(value) => format!("{name}={value}"),
                    None => argument.clone(),
                }),
                _ if argument.starts_with('-') => known.push(argument.clone()),
                _ => args.filters.push(argument.clone()),
            }
        }
        args.mimic = Arguments::from_iter(known);
        if args.mimic.test_threads == Some(0) {
            return Err("argument for --test-threads must not be 0".to_owned());
        }
        if args.mimic.test_threads.is_none()
            && let Some(threads) = variable("RUST_TEST_THREADS")
        {
            let threads = threads.parse().ok().filter(|threads| *threads > 0);
            let message = "RUST_TEST_THREADS must be a number above 0";
            args.mimic.test_threads = Some(threads.ok_or(message)?);
        }
        if args.shuffle.is_none() {
            args.shuffle = match variable("RUST_TEST_SHUFFLE_SEED") {
                Some(seed) => Some(parse_number("RUST_TEST_SHUFFLE_SEED", Some(seed))?),
                None => variable("RUST_TEST_SHUFFLE").filter(|on| on != "0").map(|_| fastrand::u64(..)),
            };
        }
        if variable("NO_COLOR").is_some_and(|set| !set.is_empty()) && args.mimic.color.is_none() {
            args.mimic.color = Some(ColorSetting::Never);
        }
        Ok(args)
    }

    /// Lets filters also match experiments by their declared names.
    pub fn with_declared_names(&self, declared: impl Iterator<Item = String>) -> Self {
        let both = declared.map(|declared| (case_name(&declared), declared));
        let declared = both.filter(|(case_name, declared)| case_name != declared).collect();
        Self { declared, ..self.clone() }
    }

    /// The names of a case or of an experiment: the listed one and, if it differs, the one with the experiment's declared name.
    fn names_of<'a>(&self, case: &'a str) -> impl Iterator<Item = Cow<'a, str>> + Clone {
        let (experiment, rest) = case.split_at(case.find("::").unwrap_or(case.len()));
        let declared = self.declared.get(experiment).map(|declared| Cow::Owned(format!("{declared}{rest}")));
        std::iter::once(Cow::Borrowed(case)).chain(declared)
    }

    /// Whether a case is selected: to be run, ignored or listed. With `--exact`, the name of an experiment or a variant selects all of
    /// its cases.
    pub fn selects(&self, case: &str, is_ignored: bool) -> bool {
        let matches = |filter: &String| self.matches(filter, case);
        self.has_kind(is_ignored)
            && (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skips(case)
    }

    /// Whether cases are selected at all if they are ignored, or if they are not.
    fn has_kind(&self, is_ignored: bool) -> bool {
        // No case is a benchmark.
        !(self.mimic.ignored && !is_ignored || self.mimic.bench)
    }

    /// Whether `--skip` excludes a case, or all cases of an experiment.
    fn skips(&self, name: &str) -> bool {
        self.mimic.skip.iter().any(|filter| self.matches(filter, name))
    }

    fn matches(&self, filter: &str, case: &str) -> bool {
        self.names_of(case).any(|name| match self.mimic.exact {
            true => is_within(&name, filter),
            false => name.contains(filter),
        })
    }

    /// Whether every case is selected, regardless of its name.
    pub fn selects_all(&self, is_ignored: bool) -> bool {
        self.filters.is_empty() && self.mimic.skip.is_empty() && self.selects("", is_ignored)
    }

    /// Whether ignored cases are run.
    pub fn runs_ignored(&self) -> bool {
        self.mimic.ignored || self.mimic.include_ignored
    }

    /// For an ignored experiment, or a variant: whether its case is selected, or a filter begins with its name.
    pub fn selects_ignored(&self, experiment: &str) -> bool {
        let begins_so =
            |filter: &String| self.matches_experiment(filter, experiment, |rest| rest.starts_with("::"));
        self.selects(experiment, true)
            || self.has_kind(true) && !self.skips(experiment) && self.filters.iter().any(begins_so)
    }

    /// For an experiment, or a variant, that cannot be run: whether any of its cases could be selected. Any text can be part of their
    /// names. If only its dataset cannot be read (`is_defined`), a filter with the name of another experiment, as in `desk::`, selects
    /// none of them.
    pub fn could_select(&self, experiment: &str, is_defined: bool, is_ignored: bool) -> bool {
        let is_of_another = |filter: &String| {
            let name = filter.split_once("::").map(|(name, _)| name).filter(|name| !name.is_empty());
            let ends = |own: Cow<'_, str>, name: &str| own.split("::").any(|part| part.ends_with(name));
            name.is_some_and(|name| !self.names_of(experiment).any(|own| ends(own, name)))
        };
        let is_elsewhere = is_defined && !self.filters.is_empty() && self.filters.iter().all(is_of_another);
        let is_possible = !self.mimic.exact && !is_elsewhere
            || self.selects(experiment, is_ignored)
            || self
                .filters
                .iter()
                .any(|filter| self.matches_experiment(filter, experiment, |rest| rest.starts_with("::")));
        is_possible && self.has_kind(is_ignored) && !self.skips(experiment)
    }

    /// Whether any case of the experiment can be selected, so that its data must be read.
    pub fn may_select(&self, experiment: &str) -> bool {
        let belongs = |filter: &String| {
            self.matches_experiment(filter, experiment, |rest| rest.is_empty() || rest.starts_with("::"))
        };
        !self.mimic.exact || self.filters.is_empty() || self.filters.iter().any(belongs)
    }

    /// Whether a filter begins with a name of the experiment and its rest satisfies `rest`.
    fn matches_experiment(&self, filter: &str, experiment: &str, rest: impl Fn(&str) -> bool) -> bool {
        self.names_of(experiment).any(|name| filter.strip_prefix(&*name).is_some_and(&rest))
    }

    /// The arguments to run libtest-mimic with: cases flagged as ignored are run, and all others are counted as filtered out, because
    /// libtest-mimic itself supports only one filter.
    pub fn to_mimic(&self) -> Arguments {
        Arguments {
            ignored: true,
            include_ignored: true,
            bench: false,
            exact: false,
            skip: Vec::new(),
            ..self.mimic.clone()
        }
    }

    /// Whether the arguments require libtest's output.
    pub fn requires_test_output(&self) -> bool {
        self.mimic.list || self.mimic.format.is_some() || self.mimic.logfile.is_some()
    }

    /// Whether output other than the cases is coloured.
    pub fn paint(&self) -> Style {
        match self.mimic.color {
            Some(ColorSetting::Always) => Style::Ansi,
            Some(ColorSetting::Never) => Style::Plain,
            _ if std::io::stdout().is_terminal() => Style::Ansi,
            _ => Style::Plain,
        }
    }

    /// Whether to print as little as possible.
    pub fn is_terse(&self) -> bool {
        self.mimic.quiet || self.mimic.format == Some(FormatSetting::Terse)
    }

    /// Whether stdout is read by a program.
    pub fn is_json(&self) -> bool {
        self.mimic.format == Some(FormatSetting::Json)
    }
}

/// Whether a name is this one, or begins with it and `::`.
fn is_within(name: &str, outer: &str) -> bool {
    name.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Prints text other than the cases.
pub fn print_text(args: &Args, text: &str) {
    // Stdout is reserved for JSON.
    if args.is_json() { eprintln!("{text}") } else { println!("{text}") }
}

fn parse_number(name: &str, value: Option<String>) -> Result<u64, String> {
    let value = value.unwrap_or_default();
    value.parse().map_err(|_| format!("{name} must be a number, not `{value}`"))
}

/// A filter for experiments: those that both lists select.
#[derive(Debug, Default)]
pub(super) struct ExperimentFilter<'a> {
    /// Patterns; one must match the name or a tag. Empty: everything matches.
    pub(super) patterns: &'a [Pattern],
    /// Exact names, in either form; one must be the experiment's. Empty: everything matches.
    pub(super) names: &'a [String],
}

impl ExperimentFilter<'_> {
    /// Whether the names select it, whatever the patterns are.
    pub(super) fn selects_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|one| experiment_name::matches_name(one, name))
    }

    pub(super) fn selects<'a>(&self, name: &'a str, mut tags: impl Iterator<Item = &'a str>) -> bool {
        let has_tag = |tag| self.patterns.iter().any(|pattern| pattern.matches(tag));
        let matches_name = || self.patterns.iter().any(|pattern| experiment_name::matches(pattern, name));
        self.selects_name(name) && (self.patterns.is_empty() || matches_name() || tags.any(has_tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Args {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Args::read("test".to_owned(), arguments, |_| None).unwrap()
    }

    fn selected(arguments: &[&str]) -> Vec<&'static str> {
        let args = read(arguments);
        ["desk::a", "desk::ab", "sums::a"].into_iter().filter(|case| args.selects(case, false)).collect()
    }

    #[test]
    fn several_filters_select_what_any_of_them_matches() {
        assert_eq!(selected(&["desk::ab", "sums"]), ["desk::ab", "sums::a"]);
        assert_eq!(selected(&["--exact", "desk::a", "sums::a"]), ["desk::a", "sums::a"]);
        assert_eq!(selected(&["desk", "--skip", "ab"]), ["desk::a"]);
        assert_eq!(selected(&["--exact", "--skip=desk::a"]), ["desk::ab", "sums::a"]);
        assert_eq!(selected(&["--", "--odd", "sums"]), ["sums::a"]);
        assert_eq!(selected(&["--skip", "-b", "--skip", "desk::", "--skip", "b"]), ["sums::a"]);
    }

    #[test]
    fn names_matter_only_where_there_is_a_filter() {
        assert!(read(&[]).selects_all(false) && read(&["--ignored"]).selects_all(true));
        for (arguments, is_ignored) in
            [(&["desk"][..], false), (&["--skip", "a"], false), (&["--ignored"], false)]
        {
            assert!(!read(arguments).selects_all(is_ignored), "{arguments:?}");
        }
    }

    #[test]
    fn nothing_is_a_benchmark_and_ignored_cases_can_be_asked_for_alone() {
        assert!(selected(&["--ignored"]).is_empty());
        assert!(read(&["--ignored"]).selects("judged", true) && read(&[]).selects("judged", true));
        assert!(!read(&["--ignored", "sums"]).selects("judged", true));
        assert!(selected(&["--bench"]).is_empty());
        assert_eq!(selected(&["--include-ignored"]).len(), 3);
    }

    #[test]
    fn what_editors_and_runners_send_is_taken() {
        let args = read(&[
            "--format=json",
            "-Z",
            "unstable-options",
            "--show-output",
            "--no-capture",
            "--report-time",
        ]);
        assert!(args.is_json());
        let args = read(&["--test-threads=3", "--color", "never", "-q", "-Zunstable-options", "--nocapture"]);
        assert_eq!(args.mimic.test_threads, Some(3));
        assert!(read(&["--fail-fast"]).fail_fast);
        assert_eq!(read(&["--shuffle-seed", "7"]).shuffle, Some(7));
        assert!(read(&["--shuffle"]).shuffle.is_some());
    }

    #[test]
    fn the_environment_counts_where_the_command_line_is_silent() {
        let read = |arguments: &[&str], name: &'static str, value: &'static str| {
            let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
            Args::read("test".to_owned(), arguments, |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(read(&[], "RUST_TEST_THREADS", "2").unwrap().mimic.test_threads, Some(2));
        assert_eq!(
            read(&["--test-threads", "4"], "RUST_TEST_THREADS", "2").unwrap().mimic.test_threads,
            Some(4)
        );
        assert!(read(&[], "RUST_TEST_THREADS", "none").is_err());
        assert_eq!(read(&[], "RUST_TEST_SHUFFLE_SEED", "9").unwrap().shuffle, Some(9));
    }

    #[test]
    fn an_experiment_is_found_by_its_declared_name_and_by_that_of_its_cases() {
        let cases = ["traveller-gpt-4o-mini::a", "traveller-gpt-4o-mini::b", "desk::a"];
        let declared = ["traveller/gpt-4o-mini", "desk"].map(str::to_owned);
        let selected = |arguments: &[&str]| {
            let args = read(arguments).with_declared_names(declared.clone().into_iter());
            cases.into_iter().filter(|case| args.selects(case, false)).collect::<Vec<_>>()
        };
        let [a, b, desk] = cases;
        for name in ["traveller/gpt-4o-mini", "traveller-gpt-4o-mini"] {
            assert_eq!(selected(&[name]), [a, b]);
            assert_eq!(selected(&[&format!("{name}::b")]), [b]);
            assert_eq!(selected(&["--exact", &format!("{name}::a")]), [a]);
            assert_eq!(selected(&["--skip", name]), [desk]);
            assert_eq!(selected(&["--skip", &format!("{name}::a")]), [b, desk]);
            assert_eq!(selected(&["--exact", "--skip", &format!("{name}::a")]), [b, desk]);
            let args =
                read(&["--exact", &format!("{name}::a")]).with_declared_names(declared.clone().into_iter());
            assert!(args.may_select("traveller-gpt-4o-mini") && !args.may_select("desk"));
            assert!(
                args.could_select("traveller-gpt-4o-mini", false, false)
                    && !args.could_select("desk", false, false)
            );
            assert_eq!(selected(&["--exact", name]), [a, b]);
            assert_eq!(selected(&["--exact", "--skip", name]), [desk]);
        }
    }

    #[test]
    fn exact_experiment_selects_its_cases() {
        assert_eq!(selected(&["--exact", "desk"]), ["desk::a", "desk::ab"]);
        assert_eq!(selected(&["--exact", "des", "sums"]), ["sums::a"]);
        assert_eq!(selected(&["--exact", "desk::a"]), ["desk::a"], "and not `desk::ab`");
        assert_eq!(selected(&["--exact", "--skip", "desk"]), ["sums::a"]);
        let variant = read(&["--exact", "desk::mini"]);
        assert!(variant.may_select("desk") && variant.selects("desk::mini::a", false));
        assert!(!variant.selects("desk::mini-2::a", false) && !variant.selects("desk", false));
    }

    #[test]
    fn unread_experiments_match_any_text() {
        for arguments in
            [&[][..], &["a"], &["sums"], &["--skip", "a"], &["--exact", "desk"], &["--exact", "desk::a"]]
        {
            assert!(read(arguments).could_select("desk", false, false), "{arguments:?}");
        }
        for arguments in
            [&["--skip", "desk"][..], &["--exact", "sums"], &["--exact", "desk-2::a"], &["--ignored"]]
        {
            assert!(!read(arguments).could_select("desk", false, false), "{arguments:?}");
        }
    }

    #[test]
    fn unreadable_data_matches_no_other_name() {
        let could = |filter: &str, is_defined| read(&[filter]).could_select("desk", is_defined, false);
        assert!(could("sums::", false) && !could("sums::", true));
        for filter in ["desk::", "esk::a", "sums", "::a"] {
            assert!(could(filter, true), "{filter}");
        }
    }

    #[test]
    fn an_exact_name_needs_the_data_of_its_experiment_only() {
        let args = read(&["--exact", "desk::a"]);
        assert!(args.may_select("desk") && !args.may_select("des") && !args.may_select("sums"));
        assert!(read(&["desk::a"]).may_select("sums"), "substrings match anywhere in a name");
    }

    fn selects(patterns: &[&str], name: &str, tags: &[&str]) -> bool {
        let patterns: Vec<_> = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        ExperimentFilter { patterns: &patterns, names: &[] }.selects(name, tags.iter().copied())
    }

    #[test]
    fn a_name_or_a_tag_is_matched_by_a_part_or_by_a_glob() {
        assert!(selects(&[], "desk", &[]));
        assert!(selects(&["esk"], "desk", &[]));
        assert!(selects(&["smoke"], "desk", &["v1", "smoke"]));
        assert!(selects(&["d*k"], "desk", &[]));
        assert!(selects(&["none", "v?"], "desk", &["v1"]));
        assert!(!selects(&["d*s"], "desk", &[]), "a glob must match the whole name");
        assert!(!selects(&["Desk"], "desk", &["smoke"]));
    }

    #[test]
    fn either_form_of_a_name_selects_the_experiment() {
        for pattern in ["traveller/gpt", "traveller-gpt", "traveller-gpt-4o-*", "*/gpt-4o-mini"] {
            assert!(selects(&[pattern], "traveller/gpt-4o-mini", &[]), "{pattern}");
        }
        for name in ["traveller/gpt-4o-mini", "traveller-gpt-4o-mini"] {
            let filter = ExperimentFilter { patterns: &[], names: &[name.to_owned()] };
            assert!(filter.selects("traveller/gpt-4o-mini", [].into_iter()), "{name}");
            assert!(!filter.selects("traveller/gpt-4o", [].into_iter()), "{name}");
        }
        assert!(!selects(&["v-1"], "desk", &["v/1"]), "tags must match exactly");
    }

    #[test]
    fn a_whole_name_is_no_pattern_and_no_tag_and_narrows_what_patterns_match() {
        let (patterns, names) = (["des".parse().unwrap()], ["desk*".to_owned()]);
        let filter = ExperimentFilter { patterns: &patterns, names: &names };
        assert!(filter.selects("desk*", [].into_iter()));
        assert!(!filter.selects("desks", ["desk*"].into_iter()));
        let names = ["other".to_owned()];
        assert!(!ExperimentFilter { patterns: &patterns, names: &names }.selects("other", [].into_iter()));
    }
}
