//! A page with all that a call came to, for a browser: it needs no file and no network beside it, and can be read without
//! its script, which shows the items.

mod experiment;
mod page;
mod parts;
#[cfg(test)]
mod tests;

pub use page::html;
