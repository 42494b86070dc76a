//! Reads the vector files, one JSON object per line, and runs a check on every line that may be asserted.

use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

/// One line of a vector file.
pub(crate) struct Case {
    fields: Value,
}

/// The outcome of a check: why the case does not hold.
pub(crate) type Checked = Result<(), String>;

impl Case {
    pub(crate) fn name(&self) -> &str {
        self.fields["case"].as_str().unwrap_or("?")
    }

    pub(crate) fn input(&self) -> &Value {
        &self.fields["input"]
    }

    pub(crate) fn expected(&self) -> &Value {
        &self.fields["expected"]
    }

    /// Whether the case expects an error in place of a value.
    pub(crate) fn expects_error(&self) -> bool {
        !self.fields["expected_error"].is_null()
    }

    /// The list of numbers in a field of the input.
    pub(crate) fn numbers(&self, field: &str) -> Vec<f64> {
        numbers(&self.input()[field])
    }

    /// Compares a number within the tolerance of the case: absolute, and relative for values above 1.
    pub(crate) fn close(&self, what: &str, actual: f64, expected: &Value) -> Checked {
        let expected =
            expected.as_f64().ok_or_else(|| format!("{what}: expected value is {expected}, not a number"))?;
        let tolerance = self.fields["tolerance"].as_f64().ok_or("the case has no tolerance")?;
        // A NaN is close to nothing.
        if (actual - expected).abs() <= tolerance * expected.abs().max(1.0) {
            Ok(())
        } else {
            Err(format!("{what}: {actual}, expected {expected}"))
        }
    }

    /// Compares a figure that is not always defined; where it is not, the case says `null`.
    pub(crate) fn close_if_any(&self, what: &str, actual: Option<f64>, expected: &Value) -> Checked {
        match actual {
            Some(actual) => self.close(what, actual, expected),
            None if expected.is_null() => Ok(()),
            None => Err(format!("{what}: none, expected {expected}")),
        }
    }
}

/// The numbers of a JSON list.
pub(crate) fn numbers(list: &Value) -> Vec<f64> {
    let values = list.as_array().expect("a list of numbers");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// The folder of the vectors: under the folder named by `COBALT_SHARED`, else under `shared` beside the workspace. `None`
/// where it is missing, but not where it was asked for by name.
fn folder() -> Option<PathBuf> {
    match env::var_os("COBALT_SHARED") {
        Some(shared) => {
            let folder = PathBuf::from(shared).join("vectors");
            assert!(folder.is_dir(), "COBALT_SHARED is set, but {} is no folder", folder.display());
            Some(folder)
        }
        None => {
            let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vectors"));
            folder.is_dir().then_some(folder)
        }
    }
}

/// The text of a file of the vectors' folder. Where there is no such folder, says so and gives `None`.
pub(crate) fn read(file: &str) -> Option<String> {
    let Some(folder) = folder() else {
        println!("skipped: no shared vectors here; name their folder by COBALT_SHARED");
        return None;
    };
    let path = folder.join(file);
    Some(fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Runs `check` on every asserted line of `file`, and fails with all the lines that do not hold, or if none was asserted.
pub(crate) fn for_each_asserted(file: &str, check: impl Fn(&Case) -> Checked) {
    let Some(text) = read(file) else { return };
    let (mut asserted, mut failures) = (0, Vec::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}, line {}: {error}", index + 1));
        if fields["assert"] != Value::Bool(true) {
            continue;
        }
        asserted += 1;
        let case = Case { fields };
        if let Err(why) = check(&case) {
            failures.push(format!("line {}, {}: {why}", index + 1, case.name()));
        }
    }
    assert!(asserted > 0, "{file}: no line was asserted");
    println!("{file}: {asserted} lines asserted");
    assert!(failures.is_empty(), "{file}: {} of {asserted} failed\n{}", failures.len(), failures.join("\n"));
}
