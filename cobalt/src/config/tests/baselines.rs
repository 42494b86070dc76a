//! Baseline settings: files, age, and inconclusive thresholds.

use serde_json::json;

use super::Project;
use crate::config::{Config, Flags, OnInconclusive};

const FILE: &str = "[baseline]\non-inconclusive = \"fail\"\nmax-age = \"12h\"\n";

fn origin(config: &Config, key: &str) -> String {
    let setting = config.settings().iter().find(|setting| setting.key == key);
    setting.unwrap_or_else(|| panic!("no {key}")).origin.to_string()
}

#[test]
fn what_noise_hides_passes_unless_something_is_set() {
    let config = Project::new().load();
    assert_eq!(config.on_inconclusive(), OnInconclusive::Pass);
    assert_eq!((config.baseline_files(), config.baseline_max_age().as_secs()), (None, 30 * 24 * 3600));
}

#[test]
fn a_flag_comes_before_the_variable_and_that_before_the_file() {
    let project = Project::with(FILE);
    let config = project.load();
    assert_eq!(
        (config.on_inconclusive(), config.baseline_max_age().as_secs()),
        (OnInconclusive::Fail, 12 * 3600)
    );
    assert_eq!(origin(&config, "baseline.on-inconclusive"), "cobalt.toml:2");
    let project = project.variable("COBALT_ON_INCONCLUSIVE", "pass");
    let config = project.load();
    assert_eq!(config.on_inconclusive(), OnInconclusive::Pass);
    assert_eq!(origin(&config, "baseline.on-inconclusive"), "COBALT_ON_INCONCLUSIVE");
    let flags = Flags { on_inconclusive: Some(OnInconclusive::Fail), ..Flags::default() };
    assert_eq!(project.flags(flags).load().on_inconclusive(), OnInconclusive::Fail);
}

#[test]
fn files_to_be_held_against_are_listed_as_in_path() {
    let list = std::env::join_paths(["kept/desk.json", "", "/w/sums.json"]).unwrap();
    let project = Project::new().variable("COBALT_BASELINE", list.to_str().unwrap());
    let config = project.load();
    let files = [project.path("kept/desk.json"), "/w/sums.json".into()];
    assert_eq!(config.baseline_files(), Some(&files[..]), "relative to the workspace root");
    assert_eq!(origin(&config, "baseline"), "COBALT_BASELINE");
    let flags = Flags { baseline: vec!["/w/flag.json".into()], ..Flags::default() };
    let config = project.flags(flags).load();
    assert_eq!(config.baseline_files(), Some(&["/w/flag.json".into()][..]));
    let settings = serde_json::to_value(config.settings()).unwrap();
    assert!(settings.as_array().unwrap().contains(&json!({
        "key": "baseline", "value": ["/w/flag.json"], "origin": "flag",
    })));
    for none in ["", ":"] {
        assert_eq!(Project::new().variable("COBALT_BASELINE", none).load().baseline_files(), None);
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_cannot_stand_in_a_list_is_refused() {
    let flags = Flags { baseline: vec!["/w/a:b.json".into()], ..Flags::default() };
    let error = flags.variables().unwrap_err().to_string();
    assert!(
        error.contains("COBALT_BASELINE") && error.ends_with("move the file or rename its directory"),
        "{error}"
    );
}

#[test]
fn another_outcome_than_these_two_is_refused() {
    let error = Project::with("[baseline]\non-inconclusive = \"skip\"\n").error();
    assert_eq!(error, "cobalt.toml:2:19: expected `pass` or `fail`, not `skip`");
    let error = Project::new().variable("COBALT_ON_INCONCLUSIVE", "1").error();
    assert_eq!(error, "COBALT_ON_INCONCLUSIVE is `1`; expected `pass` or `fail`");
    let error = Project::with("[baseline]\nmax_age = \"1d\"\n").error();
    assert_eq!(error, "cobalt.toml:2:1: unknown key `max_age`; did you mean `max-age`?");
}
