#![doc = include_str!("../docs/overview.md")]

#[doc(hidden)]
pub mod back_off;
mod causes;
pub mod config;
pub mod dataset;
mod engine;
mod error;
mod evaluators;
mod experiment;
mod harness;
#[doc(hidden)]
pub mod hash;
#[cfg(feature = "remote")]
mod http;
mod item;
pub mod llm;
mod load;
pub mod metrics;
#[doc(hidden)]
pub mod names;
mod nesting;
pub mod paths;
pub mod pattern;
pub mod prices;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod redact;
pub mod report;
pub mod reporters;
mod session;
mod settings;
pub mod shards;
mod slug;
pub mod store;
pub mod template;
mod threads;
mod timestamp;
#[doc(hidden)]
pub mod wording;

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
#[doc(hidden)]
pub use harness::{Request, Wanted, exit_code};
pub use llm::Provider;
pub use report::{Report, Threshold};
pub use reporters::MissingKey;

#[doc = include_str!("../docs/calls.md")]
pub mod calls {}
#[doc = include_str!("../docs/catalogue.md")]
pub mod catalogue {}
#[doc = include_str!("../docs/custom.md")]
pub mod custom {}
#[doc = include_str!("../docs/datasets.md")]
pub mod datasets {}
#[doc = include_str!("../docs/judges.md")]
#[cfg(feature = "judge")]
pub mod judges {}
#[doc = include_str!("../docs/text.md")]
pub mod text {}
#[doc = include_str!("../docs/webhooks.md")]
pub mod webhooks {}

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The programs of the page that coding assistants read compile.
#[cfg(doctest)]
#[doc = include_str!("../../cargo-cobalt/src/assistants/skills.md")]
struct Skills;
