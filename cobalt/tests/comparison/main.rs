//! Comparisons of runs and baseline gates, from known numbers.

mod calibration;
mod figures;
mod gates;
mod gsm8k;
mod ranking;
mod runs;
mod simulation;
mod verdicts;
