//! The table of runs, within the terminal width.

use std::fmt::Write as _;

use cobalt_core::prices::CostFormat;
use cobalt_core::reporters::Style;

use crate::index::RunStatus;
use crate::runs::{RunView, format_minute};
use crate::terminal::{columns, one_line, shorten_to_width, truncate_to_width};

const GAP: usize = 2;
const COLUMN_COUNT: usize = 9;
const COLUMNS: [Column; COLUMN_COUNT] = [
    Column { title: "id", ..Column::FIXED },
    Column { title: "start (UTC)", ..Column::FIXED },
    Column { title: "name", min_width: Some(12), ..Column::FIXED },
    Column { title: "status", ..Column::FIXED },
    Column { title: "items", is_number: true, ..Column::FIXED },
    Column { title: "scores", min_width: Some(14), ..Column::FIXED },
    Column { title: "agent cost", is_number: true, ..Column::FIXED },
    Column { title: "judge cost", is_number: true, is_optional: true, ..Column::FIXED },
    Column { title: "tags", min_width: Some(6), ..Column::FIXED },
];
const START: usize = 1;
const NAME: usize = 2;
const STATUS: usize = 3;
const ITEMS: usize = 4;
const SCORES: usize = 5;
const AGENT_COST: usize = 6;
const JUDGE_COST: usize = 7;
const TAGS: usize = 8;
/// The columns to hide if there is no room, in this order.
const HIDE_ORDER: [usize; 6] = [TAGS, JUDGE_COST, AGENT_COST, SCORES, ITEMS, START];
/// The length of the year in a date, as in `2026-`.
const YEAR_LEN: usize = 5;

/// A width for each column.
type Widths = [usize; COLUMN_COUNT];
/// A run's cells.
type Row = [String; COLUMN_COUNT];
/// The style of a cell.
type StyleFn = fn(Style, String) -> String;

const PLAIN: StyleFn = |_, text| text;

struct Column {
    title: &'static str,
    /// The minimum width that it may be cut to.
    min_width: Option<usize>,
    is_number: bool,
    /// Whether it is left out if no run has a value.
    is_optional: bool,
}

impl Column {
    const FIXED: Self = Self { title: "", min_width: None, is_number: false, is_optional: false };
}

/// The runs as a table within `width`. If there is little room, dates of the current year are shown without the year.
pub fn render_table(runs: &[RunView], width: Option<usize>, today: &str, paint: Style) -> String {
    let costs =
        CostFormat::of(runs.iter().flat_map(|run| [agent_cost(run), run.metrics.judge_cost]).flatten());
    let mut rows: Vec<_> = runs.iter().map(|run| cells(run, costs)).collect();
    let is_of_this_year = |row: &Row| row[START].get(..YEAR_LEN).is_some_and(|year| today.starts_with(year));
    let is_too_wide = width.is_some_and(|width| total_width(&natural_widths(&content_widths(&rows))) > width);
    if is_too_wide && rows.iter().all(is_of_this_year) {
        rows.iter_mut().for_each(|row| drop(row[START].drain(..YEAR_LEN)));
    }
    let contents = content_widths(&rows);
    let widths = match width {
        Some(width) => fit_widths(&contents, width),
        None => natural_widths(&contents),
    };
    let mut text = String::new();
    let titles = COLUMNS.each_ref().map(|column| (column.title.to_owned(), Style::faint as StyleFn));
    write_line(&mut text, &titles, &widths, paint);
    for (run, row) in runs.iter().zip(rows) {
        let mut row = row.map(|cell| (cell, PLAIN));
        row[STATUS].1 = status_style(run.status);
        row[NAME].0 = shorten_to_width(&row[NAME].0, widths[NAME].unwrap_or(0));
        row[SCORES].0 = scores(run, widths[SCORES].unwrap_or(0));
        write_line(&mut text, &row, &widths, paint);
    }
    note_hidden_columns(&mut text, &contents, &widths);
    text
}

/// Lists the hidden columns.
fn note_hidden_columns(text: &mut String, contents: &Widths, widths: &[Option<usize>; COLUMN_COUNT]) {
    let is_missed = |column: &usize| widths[*column].is_none() && contents[*column] > 0;
    let missed: Vec<_> =
        HIDE_ORDER.into_iter().filter(is_missed).map(|column| COLUMNS[column].title).collect();
    if !missed.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "hidden columns: {} (use `--json` to see all)", missed.join(", "));
    }
}

fn status_style(status: RunStatus) -> StyleFn {
    match status {
        RunStatus::Passed => Style::success,
        RunStatus::NotEvaluated => Style::warning,
        RunStatus::Failed | RunStatus::Error => Style::error,
    }
}

/// A run's cells, uncut.
fn cells(run: &RunView, costs: CostFormat) -> Row {
    let cost = |usd: Option<f64>| usd.map(|usd| costs.format(usd)).unwrap_or_default();
    [
        one_line(&run.id),
        format_minute(&run.timestamp),
        name(run),
        status(run),
        run.items.total.to_string(),
        scores(run, usize::MAX),
        cost(agent_cost(run)),
        cost(run.metrics.judge_cost),
        one_line(&run.tags.join(", ")),
    ]
}

/// The experiment's name and, in quotes, that of the run.
fn name(run: &RunView) -> String {
    let experiment = one_line(&run.experiment);
    match &run.run_name {
        Some(name) => format!("{experiment} \"{}\"", one_line(name)),
        None => experiment,
    }
}

/// The agent cost of a run; none if it only scored outputs: that cost is of the run whose outputs they are.
fn agent_cost(run: &RunView) -> Option<f64> {
    run.metrics.cost.filter(|_| run.rescored_from.is_none())
}

/// The status, how many items were replayed, as their latency and agent cost are those of a recording, and whether it is redacted.
fn status(run: &RunView) -> String {
    let replayed = usize::try_from(run.metrics.replayed_items).unwrap_or_default();
    let origin = match (&run.rescored_from, replayed) {
        (Some(origin), _) => Some(format!("scores of {}", one_line(origin))),
        (None, 0) => None,
        (None, replayed) if replayed >= run.items.total => Some("replayed".to_owned()),
        (None, replayed) => Some(format!("{replayed} replayed")),
    };
    let redacted = run.is_redacted.then(|| "redacted".to_owned());
    let notes: Vec<_> = origin.into_iter().chain(redacted).collect();
    let status = run.status.as_str();
    if notes.is_empty() { status.to_owned() } else { format!("{status} ({})", notes.join(", ")) }
}

/// As many evaluators with their means as fit. For the first one, the name is cut, not the mean.
fn scores(run: &RunView, width: usize) -> String {
    let mut text = String::new();
    for (index, (name, avg)) in run.scores.iter().enumerate() {
        let name = one_line(name);
        let is_last = index + 1 == run.scores.len();
        let more = if is_last { "" } else { " …" };
        let entry = format!("{}{name} {avg:.3}", if index == 0 { "" } else { ", " });
        if columns(&text) + columns(&entry) + columns(more) <= width {
            text.push_str(&entry);
        } else if index == 0 {
            let room = width.saturating_sub(columns(&format!(" {avg:.3}{more}")));
            return format!("{} {avg:.3}{more}", shorten_to_width(&name, room));
        } else {
            text.push_str(" …");
            return text;
        }
    }
    if text.is_empty() { "no score".to_owned() } else { text }
}

/// The widths of the widest cells.
fn content_widths(rows: &[Row]) -> Widths {
    std::array::from_fn(|column| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0))
}

/// The widths required by titles and contents; `None` for optional columns without content.
fn natural_widths(contents: &Widths) -> [Option<usize>; COLUMN_COUNT] {
    std::array::from_fn(|place| {
        let Column { title, is_optional, .. } = COLUMNS[place];
        (contents[place] > 0 || !is_optional).then(|| contents[place].max(columns(title)))
    })
}

/// Widths that fit into a terminal; `None` for hidden columns.
fn fit_widths(contents: &Widths, width: usize) -> [Option<usize>; COLUMN_COUNT] {
    let natural = natural_widths(contents);
    if total_width(&natural) <= width {
        return natural;
    }
    let natural = natural.map(Option::unwrap_or_default);
    let mut widths: [Option<usize>; COLUMN_COUNT] = std::array::from_fn(|column| {
        let least = COLUMNS[column].min_width.unwrap_or(usize::MAX).min(natural[column]);
        (contents[column] > 0).then_some(least)
    });
    for column in HIDE_ORDER {
        if total_width(&widths) > width {
            widths[column] = None;
        }
    }
    distribute_room(width.saturating_sub(total_width(&widths)), &natural, &mut widths);
    widths
}

/// The width of a line.
fn total_width(widths: &[Option<usize>; COLUMN_COUNT]) -> usize {
    widths.iter().flatten().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
}

/// Distributes the remaining room among the cut columns, in proportion to what they lack.
fn distribute_room(mut room: usize, natural: &Widths, widths: &mut [Option<usize>; COLUMN_COUNT]) {
    let lack = |width: &Option<usize>, natural: &usize| width.map_or(0, |width| natural - width);
    let mut lacking: usize = widths.iter().zip(natural).map(|(width, natural)| lack(width, natural)).sum();
    for (width, natural) in widths.iter_mut().zip(natural) {
        let lack = lack(width, natural);
        let share = (room * lack).checked_div(lacking).unwrap_or(0).min(lack);
        *width = width.map(|width| width + share);
        room -= share;
        lacking -= lack;
    }
}

/// Writes a line without trailing spaces.
fn write_line(
    text: &mut String,
    cells: &[(String, StyleFn); COLUMN_COUNT],
    widths: &[Option<usize>; COLUMN_COUNT],
    paint: Style,
) {
    let mut pending = 0;
    for ((column, (cell, look)), width) in COLUMNS.iter().zip(cells).zip(widths) {
        let Some(width) = *width else { continue };
        let cell = truncate_to_width(cell, width);
        let padding = width - columns(&cell).min(width);
        let (before, after) = if column.is_number { (padding, 0) } else { (0, padding) };
        pending += before;
        if !cell.is_empty() {
            let _ = write!(text, "{:pending$}{}", "", look(paint, cell));
            pending = 0;
        }
        pending += after + GAP;
    }
    text.push('\n');
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::index::IndexedRun;
    use crate::runs::RunMetrics;

    const TODAY: &str = "2026-02-06";

    pub fn run(name: &str, scores: &[(&str, f64)], tags: &[&str]) -> RunView {
        let run = IndexedRun {
            id: "0123456789ab".to_owned(),
            name: name.to_owned(),
            experiment: name.to_owned(),
            variant: None,
            variant_group: None,
            run_name: None,
            rescored_from: None,
            timestamp: "2026-02-05T14:30:00.000Z".to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            scores: scores.iter().map(|(name, avg)| ((*name).to_owned(), *avg)).collect(),
            cost: Some(1.25),
            total_items: 50,
            status: RunStatus::Passed,
            duration_ms: 0,
            avg_latency_ms: 0.0,
            total_tokens: None,
            judge_cost: None,
            user_cost: None,
            metrics: [].into(),
            passed_items: 50,
            low_items: 0,
            failed_items: 0,
            eval_errors: 0,
            git_commit: None,
            git_dirty: None,
            dataset_hash: None,
            dataset_items: None,
            git_branch: None,
            partial: false,
            shard: None,
            shard_group: None,
            replayed_items: 0,
            redacted: false,
            file: String::new(),
        };
        RunView::finished(run, false)
    }

    fn plain(runs: &[RunView], width: Option<usize>) -> String {
        render_table(runs, width, TODAY, Style::Plain)
    }

    fn long() -> RunView {
        let scores = [("correctness_of_the_answer", 0.75), ("right_tool", 1.0), ("tone", 0.5)];
        run("questions about 質問 and answers", &scores, &["nightly", "gated", "customer-support"])
    }

    #[test]
    fn nothing_is_cut_where_no_terminal_reads() {
        assert_eq!(
            plain(&[run("desk", &[("exact", 0.5), ("tone", 1.0)], &["smoke"])], None),
            "id            start (UTC)       name  status  items  scores                   agent cost  tags\n\
             0123456789ab  2026-02-05 14:30  desk  passed     50  exact 0.500, tone 1.000       $1.25  smoke\n"
        );
        let long = plain(&[long()], None);
        assert!(
            long.contains("questions about 質問 and answers") && long.contains("customer-support"),
            "{long}"
        );
    }

    #[test]
    fn agent_and_judge_costs_have_columns_of_their_own_with_the_same_decimals() {
        let judged = |cost, judge_cost| {
            let run = run("desk", &[], &["x"]);
            RunView { metrics: RunMetrics { cost, judge_cost, ..run.metrics.clone() }, ..run }
        };
        let scored =
            RunView { rescored_from: Some("ffff01234567".to_owned()), ..judged(Some(0.5), Some(0.0015)) };
        let text = plain(&[judged(Some(0.138), None), scored], None);
        let start = text.find("agent cost").unwrap();
        let costs: Vec<_> = text.lines().map(|line| &line[start..]).collect();
        assert_eq!(
            costs,
            ["agent cost  judge cost  tags", "   $0.1380              x", "               $0.0015  x"],
            "{text}"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 36..250 {
            let text = plain(&[long(), run("desk", &[], &[])], Some(width));
            let rows = text.lines().filter(|line| !line.starts_with("hidden columns"));
            for line in rows {
                assert!(columns(line) <= width, "{} of {width}: {line}", columns(line));
            }
            assert!(text.contains("0123456789ab"), "an id is never cut: {text}");
        }
    }

    #[test]
    fn what_finds_no_room_is_named() {
        let text = plain(&[long()], Some(84));
        assert!(
            text.contains("$1.25") && text.ends_with("hidden columns: tags (use `--json` to see all)\n"),
            "{text}"
        );
        assert!(text.contains("corr…wer 0.750 …"), "the mean is kept: {text}");
    }

    #[test]
    fn a_column_without_any_content_takes_no_room_from_others() {
        let text = {
            let run = run("intent-classifier", &[("correct", 0.5)], &[]);
            plain(&[RunView { metrics: RunMetrics::default(), ..run }], Some(74))
        };
        assert!(text.contains("intent-classifier") && !text.contains("hidden"), "{text}");
    }

    #[test]
    fn the_year_goes_first_where_it_is_this_one() {
        assert!(plain(&[long()], Some(80)).contains("  02-05 14:30  "));
        let old = RunView { timestamp: "2025-12-31T23:59:59.000Z".to_owned(), ..long() };
        assert!(plain(&[long(), old], Some(80)).contains("  2026-02-05 14:30  "));
        assert!(plain(&[long()], Some(200)).contains("  2026-02-05 14:30  "));
    }

    #[test]
    fn a_status_is_coloured() {
        let failed = RunView { status: RunStatus::Failed, ..run("desk", &[], &[]) };
        let text = render_table(&[run("desk", &[], &[]), failed], None, TODAY, Style::Ansi);
        assert!(
            text.contains("\u{1b}[32mpassed\u{1b}[0m") && text.contains("\u{1b}[31mfailed\u{1b}[0m"),
            "{text}"
        );
    }

    #[test]
    fn a_replayed_run_is_marked() {
        let replayed = |replayed_items| {
            let run = run("desk", &[], &[]);
            plain(&[RunView { metrics: RunMetrics { replayed_items, ..run.metrics.clone() }, ..run }], None)
        };
        assert!(replayed(0).contains("  passed     50  "), "{}", replayed(0));
        assert!(replayed(41).contains("  passed (41 replayed)     50  "), "{}", replayed(41));
        assert!(replayed(50).contains("  passed (replayed)     50  "), "{}", replayed(50));
    }

    #[test]
    fn a_run_without_scores_says_so() {
        assert!(plain(&[run("desk", &[], &[])], None).contains("no score"));
    }
}
