//! An isolated environment, independent of the machine's keys, configuration and cache.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};

/// Set in the isolated process.
const OURS: &str = "VECTORS_SURROUNDINGS";
/// No cache, and short timeouts.
const CONFIG: &str = "[judge]\nmodel = \"gpt-scripted\"\nprovider = \"openai\"\nretries = 0\ntimeout = \"20s\"\n\n\
    [embedding]\nmodel = \"embedding-scripted\"\nprovider = \"openai\"\n\n[cache]\nenabled = false\n";

/// Whether this process is isolated.
pub(crate) fn are_ours() -> bool {
    env::var_os(OURS).is_some()
}

/// Runs this test again in an isolated environment, and exits with its result.
pub(crate) fn again() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("cobalt.toml");
    fs::write(&config, CONFIG).expect("a file in the temporary folder");
    let mut command = Command::new(env::current_exe().expect("the path of this test"));
    command.args(env::args_os().skip(1));
    let foreign = |name: &str| {
        let prefixes =
            ["COBALT_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "AZURE_", "COHERE_", "CO_", "VOYAGE_"];
        let is_proxy = name.to_lowercase().ends_with("_proxy");
        is_proxy || prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(foreign) {
            command.env_remove(&name);
        }
    }
    for named in ["COBALT_VECTORS", "COBALT_SHARED"] {
        command.envs(env::var_os(named).map(|value| (named, value)));
    }
    command.env(OURS, "1").env("COBALT_CONFIG", &config).env("COBALT_DIR", folder.path());
    let status = command.status().expect("this test can be started again");
    match status.code().map(u8::try_from) {
        Some(Ok(code)) => code.into(),
        _ => ExitCode::FAILURE,
    }
}
