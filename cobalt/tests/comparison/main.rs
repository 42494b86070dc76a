//! Comparisons of runs and gates against a baseline, from numbers that are known.

mod calibration;
mod figures;
mod gates;
mod gsm8k;
mod runs;
mod simulation;
mod verdicts;
