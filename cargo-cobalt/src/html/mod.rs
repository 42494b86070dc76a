//! A self-contained HTML page with the results of an invocation. It needs no other files and no network, and is readable without its
//! script, which shows the items.

mod components;
mod experiment;
mod metrics;
mod page;
mod ranking;
#[cfg(test)]
mod tests;
mod trace;
mod transcript;

pub use page::html;
