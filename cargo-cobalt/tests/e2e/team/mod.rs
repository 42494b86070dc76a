//! Runs of a team in a remote store: baselines of pull requests, and names of runs.

mod names;
mod pull_request;
