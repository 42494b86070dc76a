//! Who shares what with whom in a process.

use std::fs;
use std::sync::Arc;

use tempfile::TempDir;

use crate::config::Config;

fn config(folder: &TempDir, text: &str) -> Config {
    fs::write(folder.path().join("cobalt.toml"), text).unwrap();
    Config::load(folder.path(), |_| None).unwrap()
}

#[test]
fn all_who_have_the_same_settings_share_their_models() {
    let folder = tempfile::tempdir().unwrap();
    let models = config(&folder, "judge.model = \"a\"").shared_models();
    assert!(Arc::ptr_eq(
        &models,
        &config(&folder, "judge.model = \"a\"\n[ci]\ntimeout = \"9s\"").shared_models()
    ));
    for other in ["judge.model = \"b\"", "judge.model = \"a\"\nprices.a = { input = 1, output = 1 }"] {
        assert!(!Arc::ptr_eq(&models, &config(&folder, other).shared_models()), "{other}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let other = config(&elsewhere, "judge.model = \"a\"").shared_models();
    assert!(!Arc::ptr_eq(&models, &other), "their cache is another one");
}
