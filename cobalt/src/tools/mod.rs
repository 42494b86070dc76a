#![doc = include_str!("../../docs/tools.md")]

mod calls;
mod error;
mod faults;
mod function;
mod injection;
mod rule;
mod tool;

pub(crate) use calls::ExecutionTools;
pub use error::ToolError;
pub use faults::{Faults, IntoFaultRule};
pub(crate) use function::{Async, Plain};
pub use function::{IntoToolResult, ToolFunction};
pub use injection::Injection;
pub use rule::{FaultError, FaultRule};
pub use tool::Tool;
