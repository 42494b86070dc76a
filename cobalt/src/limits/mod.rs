//! Limits for requests to models: how many requests and tokens a minute, and how many requests at a time.
//!
//! [`Limits`] gives a [`Permit`] for each request. The limits of `cobalt.toml` hold for the whole process, and for all processes that
//! share a folder. After a 429 response, fewer requests are sent at a time, with or without limits.

mod bucket;
mod clock;
mod limiter;
mod permit;
mod rule;
mod rule_state;
mod shared;
#[cfg(test)]
mod tests;
mod throttle;
mod waiting_line;

pub use limiter::Limits;
pub use permit::Permit;
pub use rule::LimitRule;
