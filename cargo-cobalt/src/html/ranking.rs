//! Several runs side by side: the recommendation, a table of the runs, and the differences beyond noise.

use cobalt_core::report::ranking::{RankedRun, Ranking};
use cobalt_core::reporters::{
    NO_REAL_DIFFERENCE, RANKING_CORRECTION, RankingColumn, RealDifference, format_preference,
};
use cobalt_core::wording::count;
use maud::{Markup, html};

use super::components::{Tone, badge, code, name};

/// The ranking as a section.
pub fn section(ranking: &Ranking) -> Markup {
    let noun = if ranking.group.is_some() { "variant" } else { "run" };
    html! {
        section.experiment {
            h2 {
                @if let Some(experiment) = &ranking.experiment { (name(experiment)) ": " }
                (count(ranking.runs.len(), noun)) " compared"
            }
            @if let Some(recommendation) = &ranking.recommendation {
                p { strong { (quoted(&recommendation.text)) "." } }
            }
            (runs(ranking, noun))
            (differences(ranking))
            @for preference in &ranking.preferences {
                p { (quoted(&format_preference(ranking, preference, |label| format!("`{label}`")))) "." }
            }
            @for note in &ranking.notes { p.note { (quoted(note)) } }
        }
    }
}

/// A sentence of ours with the names in backticks as code.
fn quoted(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { (code(part)) } @else { (name(part)) }
        }
    }
}

fn runs(ranking: &Ranking, noun: &str) -> Markup {
    let columns = RankingColumn::of(ranking);
    html! {
        div.scroll tabindex="0" role="group" aria-label={ "Compared " (noun) "s" } {
            table {
                thead {
                    tr {
                        th scope="col" { (if noun == "variant" { "Variant" } else { "Run" }) }
                        @for column in &columns { th.number scope="col" { (name(&column.title)) } }
                    }
                }
                tbody {
                    @for (place, run) in ranking.runs.iter().enumerate() {
                        tr {
                            th scope="row" { (label(run)) }
                            @for column in &columns { td.number { (name(&column.cells[place])) } }
                        }
                    }
                }
            }
        }
    }
}

/// The run's label, its settings and its marks.
fn label(run: &RankedRun) -> Markup {
    html! {
        (name(&run.label)) " "
        @if run.is_on_pareto_front { (badge(Tone::Good, "Pareto front")) }
        @if !run.settings.is_null() { small { (code(&run.settings.to_string())) } }
    }
}

fn differences(ranking: &Ranking) -> Markup {
    let real = RealDifference::all(ranking);
    html! {
        h3 { "Differences beyond noise (means per item)" }
        @if real.is_empty() {
            p { (NO_REAL_DIFFERENCE) "." }
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Differences beyond noise" {
                table {
                    thead {
                        tr {
                            @for title in ["Metric", "Better", "Worse"] { th scope="col" { (title) } }
                            @for title in ["Change", "95% CI", "p"] { th.number scope="col" { (title) } }
                        }
                    }
                    tbody {
                        @for RealDifference { name: metric, better, worse, figures } in &real {
                            tr {
                                th scope="row" { (name(metric)) }
                                td { (name(better)) }
                                td { (name(worse)) }
                                td.number { (figures.difference) }
                                td.number { (figures.ci95.as_deref().unwrap_or("–")) }
                                td.number { (figures.p.as_deref().unwrap_or("–")) }
                            }
                        }
                    }
                }
            }
            p { small { (RANKING_CORRECTION) "." } }
        }
    }
}
