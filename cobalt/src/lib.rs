#![doc = include_str!("../docs/overview.md")]

#[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no request is sent without the feature"))]
mod budget;
mod config;
pub mod dataset;
mod dataset_loading;
mod engine;
mod error;
mod evaluators;
mod experiment;
mod harness;
#[cfg(feature = "remote")]
mod http;
#[cfg(feature = "record")]
mod limits;
pub mod llm;
mod log;
pub mod metrics;
#[doc(hidden)]
pub mod private;
mod processes;
pub mod recording;
mod rescore;
mod session;
mod settings;
mod shards;
pub mod template;
mod thread_pool;
pub mod tools;
pub mod trace;
mod wait_timeout;
mod workspace;

#[doc(inline)]
pub use cobalt_core::error_chain::BoxError;
#[doc(inline)]
pub use cobalt_core::item::{Item, ModelCall, Output, TokenCount};
#[doc(inline)]
pub use cobalt_core::report::builders::{Metric, MetricNumber, Table};
#[doc(inline)]
pub use cobalt_core::report::{DEFAULT_PASS_MARK, Report, Threshold};
#[doc(inline)]
pub use cobalt_core::reporters::MissingKey;
#[doc = include_str!("../docs/evaluator.md")]
pub use cobalt_macros::evaluator;
#[doc = include_str!("../docs/experiment.md")]
pub use cobalt_macros::experiment;
#[doc = include_str!("../docs/summary.md")]
pub use cobalt_macros::summary;
pub use dataset::{Dataset, DatasetError, DecodeError, IntoDataset};
pub use error::Error;
pub use evaluators::{
    Aggregate, AutoevalKind, Bleu, CheckError, ChrF, CombineTurns, CommandEvaluator, Contains, Distance,
    EvalContext, EvalError, Evaluation, Evaluator, EvaluatorExt, ExactMatch, FnEvaluator, IntoScore,
    PartEvaluator, RegexMatch, Rouge, Score, Setup, SquadExactMatch, TokenF1, ToolCall, ToolCallError,
    ToolCalls, TraceCheck, TranscriptCheck, UnknownAutoevalKind, Wer,
};
#[cfg(feature = "judge")]
pub use evaluators::{Autoeval, GEval, JsonSchema, LlmJudge, Pairwise, Similarity};
#[cfg(feature = "workspace")]
pub use evaluators::{CommandSucceeds, Files, PatchSize, TouchedOnly};
pub use experiment::{
    Agent, AgentError, Chat, Context, Conversation, Experiment, FnSummary, IntoOutput, IntoReply,
    IntoSummary, Json, Record, Reply, SimulatedUser, SummaryItem, SummaryOutput, Variants,
};
pub use harness::main;
pub use llm::Provider;
pub use session::VariantReports;
pub use workspace::Workspace;

#[doc = include_str!("../docs/calls.md")]
pub mod calls {}
#[doc = include_str!("../docs/catalogue.md")]
pub mod catalogue {}
#[doc = include_str!("../docs/configuration.md")]
pub mod configuration {
    pub use crate::config::{ConfigError, OnInconclusive};
}
#[doc = include_str!("../docs/conversations.md")]
pub mod conversations {}
#[doc = include_str!("../docs/custom.md")]
pub mod custom {}
#[doc = include_str!("../docs/datasets.md")]
pub mod datasets {}
#[doc = include_str!("../docs/events.md")]
pub mod events {
    #[doc(inline)]
    pub use cobalt_core::reporters::{Event, MissingKey};
}
#[doc = include_str!("../docs/files.md")]
pub mod files {
    pub use crate::config::layout;
    #[doc(inline)]
    pub use cobalt_core::store::{
        DamagedReport, JournalContents, JournalEntry, JournalError, JournalHeader, Layout, ReportFile,
        StoreError, StoredRun, read_journal, read_report, runs,
    };
}
#[doc = include_str!("../docs/judges.md")]
#[cfg(feature = "judge")]
pub mod judges {}
#[doc = include_str!("../docs/opentelemetry.md")]
pub mod opentelemetry {}
pub mod report {
    #![doc = include_str!("../docs/report.md")]
    #[doc(inline)]
    pub use cobalt_core::report::{
        Category, ChangedFile, CiStatus, Comparison, ConversationEnd, DEFAULT_PASS_MARK, DatasetSummary,
        Direction, Evaluations, EvaluatorSettings, Execution, Fetch, FileChange, GitState, InjectedFault,
        ItemError, ItemNames, ItemResult, LatencyBound, LatencyStats, MeasuredItem, MeasuredItemRef,
        MeasuredItems, Measurements, Metric, MetricSettings, MetricStats, MetricValue, Metrics, NumberBound,
        Report, ReportJsonError, Rescored, RetriedExecution, RunConfig, RunMetric, RunMetrics, RunSummaries,
        RunTable, RunVariant, RunVerdict, ScoreStats, ScoredEvaluation, Shard, SourceLocation, Status,
        Summary, Threshold, ThresholdError, ThresholdOutcome, Timestamp, Traffic, TrafficSummary, Transcript,
        TrialMeasurements, TrialStats, Turn, TurnCheck, UserMistake, UserMistakeKind, Violation,
        WorkspaceChanges, evaluate, stats, validate_items,
    };

    pub mod comparison {
        #![doc = include_str!("../docs/comparison.md")]
        #[doc(inline)]
        pub use cobalt_core::report::comparison::*;
    }

    /// Ranks several runs over the same items.
    pub mod ranking {
        pub use cobalt_core::report::ranking::*;
    }
}
#[doc = include_str!("../docs/rescoring.md")]
pub mod rescoring {}
#[doc = include_str!("../docs/shards.md")]
pub mod sharding {}
#[doc = include_str!("../docs/text.md")]
pub mod text {}
#[doc = include_str!("../docs/variants.md")]
pub mod variants {}
#[doc = include_str!("../docs/webhooks.md")]
pub mod webhooks {}
#[doc = include_str!("../docs/workspaces.md")]
pub mod workspaces {}

/// The library's interface for the command `cargo cobalt`. Not public API; nothing here is stable.
#[doc(hidden)]
pub mod command {
    pub use crate::harness::{Request, RequestKind, exit_code};

    pub mod config {
        pub use crate::config::*;
    }

    pub mod log {
        pub use crate::log::*;
    }

    /// Pages of the documentation; the command shows their tables to coding assistants.
    pub mod pages {
        pub const CATALOGUE: &str = include_str!("../docs/catalogue.md");
        pub const CONFIGURATION: &str = include_str!("../docs/configuration.md");
        pub const EVALUATOR: &str = include_str!("../docs/evaluator.md");
        pub const EXPERIMENT: &str = include_str!("../docs/experiment.md");
        pub const FILES: &str = include_str!("../docs/files.md");
    }

    pub mod shards {
        pub use crate::shards::*;
    }
}
