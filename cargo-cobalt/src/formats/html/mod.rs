//! A self-contained HTML page with the results of an invocation. It needs no other files and no network, and is readable without its
//! script, which shows the items.

mod experiment;
mod page;
mod parts;
#[cfg(test)]
mod tests;

pub use page::html;
