//! Comparisons of runs and gates against a baseline, from numbers that are known.

mod figures;
mod gates;
mod calibration;
mod gsm8k;
mod runs;
mod simulation;
mod verdicts;
