//! A page with all that a call came to, for a browser: it needs no file and no network beside it, and can be read without
//! its script, which shows the items.

mod amounts;
mod baseline;
mod chart;
mod experiment;
mod items;
mod overview;
mod page;
mod policy;
mod scores;
#[cfg(test)]
mod tests;
mod thresholds;
mod words;

pub(crate) use self::page::html;
