//! The documentation says what is read.

use super::Project;
use crate::config::Flags;

const DOCUMENTATION: &str = include_str!("../../../docs/configuration.md");

/// The example with every key.
fn example() -> &'static str {
    let (_, rest) = DOCUMENTATION.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_is_read_and_has_every_key() {
    let config = Project::with(example()).flags(Flags { ci: true, ..Flags::default() }).load();
    let settings = config.settings().iter();
    let unset: Vec<_> = settings.filter(|setting| setting.origin.to_string() == "default").collect();
    assert!(unset.is_empty(), "not in the example: {unset:?}");
    assert_eq!((config.concurrency(Some(9)), config.timeout(None).as_secs()), (2, 120));
    assert_eq!(config.additional_thresholds().len(), 1);
}

#[test]
fn every_key_has_its_row() {
    let config = Project::with(example()).load();
    for key in
        config.settings().iter().map(|setting| &*setting.key).filter(|key| !["config", "ci"].contains(key))
    {
        let written = match key.split_once('.') {
            Some(("prices", _)) => "prices.\"<model>\"",
            Some(("datasets", _)) => "datasets.\"<name>\"",
            Some(("env", _)) => "env.<NAME>",
            _ => key,
        };
        assert!(DOCUMENTATION.contains(&format!("| `{written}` | ")), "no row for `{written}`");
    }
}
