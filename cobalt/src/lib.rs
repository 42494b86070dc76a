#![doc = include_str!("../docs/overview.md")]

mod back_off;
mod causes;
mod config;
pub mod dataset;
mod engine;
mod error;
mod evaluators;
mod experiment;
mod harness;
mod hash;
#[cfg(feature = "remote")]
mod http;
mod item;
pub mod llm;
mod load;
pub mod metrics;
mod names;
mod nesting;
mod paths;
mod pattern;
#[doc(hidden)]
pub mod prices;
#[doc(hidden)]
pub mod private;
mod redact;
pub mod report;
mod reporters;
mod session;
mod settings;
mod shards;
mod slug;
mod store;
pub mod template;
mod threads;
mod timestamp;
mod wording;

pub use causes::BoxError;
#[doc = include_str!("../docs/evaluator.md")]
pub use cobalt_macros::evaluator;
#[doc = include_str!("../docs/experiment.md")]
pub use cobalt_macros::experiment;
pub use dataset::{Dataset, DatasetError, DecodeError, IntoDataset, Item};
pub use error::Error;
pub use evaluators::{
    Aggregate, AutoevalKind, Bleu, CheckError, ChrF, CommandEvaluator, Contains, DEFAULT_PASS_MARK, Distance,
    EvalContext, EvalError, Evaluation, Evaluator, ExactMatch, FnEvaluator, IntoScore, RegexMatch, Rouge,
    Score, Setup, SquadExactMatch, TokenF1, ToolCall, ToolCallError, ToolCalls, UnknownAutoevalKind, Wer,
};
#[cfg(feature = "judge")]
pub use evaluators::{Autoeval, GEval, JsonSchema, LlmJudge, Pairwise, Similarity};
pub use experiment::{
    Agent, AgentError, Context, Experiment, IntoOutput, Json, ModelCall, Output, Record, TokenCount,
};
pub use harness::main;
pub use llm::Provider;
pub use report::{Report, Threshold};
pub use reporters::MissingKey;

#[doc = include_str!("../docs/calls.md")]
pub mod calls {}
#[doc = include_str!("../docs/catalogue.md")]
pub mod catalogue {}
#[doc = include_str!("../docs/configuration.md")]
pub mod configuration {
    pub use crate::config::{ConfigError, OnInconclusive};
}
#[doc = include_str!("../docs/custom.md")]
pub mod custom {}
#[doc = include_str!("../docs/datasets.md")]
pub mod datasets {}
#[doc = include_str!("../docs/events.md")]
pub mod events {
    pub use crate::reporters::{Event, MissingKey};
}
#[doc = include_str!("../docs/files.md")]
pub mod files {
    pub use crate::store::{
        DamagedReport, JournalContents, JournalEntry, JournalError, JournalHeader, Layout, StoreError,
        StoredRun, read_journal, read_report, runs,
    };
}
#[doc = include_str!("../docs/judges.md")]
#[cfg(feature = "judge")]
pub mod judges {}
#[doc = include_str!("../docs/shards.md")]
pub mod sharding {}
#[doc = include_str!("../docs/text.md")]
pub mod text {}
#[doc = include_str!("../docs/webhooks.md")]
pub mod webhooks {}

/// What the command `cargo cobalt` has of the library, beside what everybody has. Not for use by others; nothing here is stable.
#[doc(hidden)]
pub mod command {
    pub use crate::harness::{Request, Wanted, exit_code};

    pub mod back_off {
        pub use crate::back_off::*;
    }

    pub mod config {
        pub use crate::config::*;
    }

    pub mod hash {
        pub use crate::hash::*;
    }

    pub mod names {
        pub use crate::names::*;
    }

    pub mod paths {
        pub use crate::paths::*;
    }

    pub mod pattern {
        pub use crate::pattern::*;
    }

    pub mod redact {
        pub use crate::redact::*;
    }

    pub mod reporters {
        pub use crate::reporters::*;
    }

    pub mod shards {
        pub use crate::shards::*;
    }

    pub mod store {
        pub use crate::store::*;
    }

    pub mod wording {
        pub use crate::wording::*;
    }
}

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The programs of the page that coding assistants read compile.
#[cfg(doctest)]
#[doc = include_str!("../../cargo-cobalt/src/assistants/skills.md")]
struct Skills;
