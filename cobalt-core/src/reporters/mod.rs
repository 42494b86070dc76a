//! The events of a run, and the text that reports them.

mod conversation;
mod custom_metrics;
mod events;
mod explain;
mod faults;
mod format;
mod format_difference;
mod groups;
mod missing_key;
mod notable_items;
mod ranking;
mod retried;
mod summary;
mod traffic;
mod workspaces;

pub use crate::duration::format_duration;
pub use crate::prices::format_cost_precise;
pub use crate::wording::escape_control;
pub use conversation::{
    format_conversation, format_turn_problems, format_turn_usage, format_user_usage, render_transcript,
};
pub use custom_metrics::{
    format_metric, format_metric_interval, format_metric_number, format_metric_stats, format_run_metric,
};
pub use events::{
    DivergedItem, Event, EventWriter, ExperimentFinished, ExperimentStarted, FailedItem, ItemBelowPassMark,
    ItemFinished, Listed, ListedRecordings, ListedVariant, PROTOCOL, RunFinished, SeenErrors, TrialTrace,
    Warning,
};
pub use explain::{expected_field, explain, format_fetch};
pub use faults::format_faults;
pub use format::{
    Style, format_agent_usage, format_judge_usage, format_score, format_score_at, format_simulated_users,
    unpriced_note,
};
pub use format_difference::{FormattedDifference, explain_difference};
pub use groups::{GroupCell, GroupRow, GroupTable, group_tables, render_groups};
pub use missing_key::MissingKey;
pub use notable_items::NotableItems;
pub use ranking::{
    NO_REAL_DIFFERENCE, RANKING_CORRECTION, RankingColumn, RealDifference, format_preference, render_ranking,
};
pub use retried::{format_attempts, format_retried};
pub use summary::{
    SCORE_COLUMNS, format_durations, format_not_applicable, format_pass_marks, render_summary, score_cells,
    verdict_reasons,
};
pub use traffic::{format_diverged, format_traffic, format_trial_traffic, replay_mark, traffic_notes};
pub use workspaces::{KeptWorkspaces, format_changes, format_kept};
