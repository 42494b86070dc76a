//! The small tables and their resolution: `[storage]`, `[prices]`, `[trace]`, `[changed]`, `[dashboard]` and `[redaction]`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use cobalt_core::prices::{self, Price, PriceTable};
use cobalt_core::store::Layout;
use cobalt_core::trace::ContentLimits;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

use super::editor::EditorUrl;
use super::error::ConfigError;
use super::overrides::absolute_path;
use super::remote_url::{EndpointUrl, PushName, RemoteUrl};
use super::resolve::{Resolver, first_set};
use super::settings::{Origin, dotted_key};
use super::variables::{CACHE_DIR, DIR, HISTORY_DB, REDACTION_FORMS, RESULTS_DIR, STORAGE_ROOT};
use crate::settings::{Dollars, PositiveInt};

/// Where runs are stored, and the remote store of a team. Relative paths start at the workspace root.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Storage {
    /// Base directory for stored data; default ".cobalt".
    pub(super) dir: Option<PathBuf>,
    /// Directory for result files; default `results` in `dir`.
    pub(super) results: Option<PathBuf>,
    /// Index of past runs, a file; default `history.db` in `dir`.
    pub(super) history: Option<PathBuf>,
    /// Cache directory for model responses; default `cache` in `dir`.
    pub(super) cache: Option<PathBuf>,
    /// Remote store of a team: "s3://bucket/prefix", "gs://bucket/prefix", "az://container/prefix" or a folder. Credentials come from
    /// the platform's variables.
    pub(super) remote: Option<RemoteUrl>,
    /// When finished runs are pushed to the remote store: "never", "ci" (with `--ci`) or "always"; default "never".
    pub(super) push: Option<PushName>,
    /// Whether runs are pushed without inputs, outputs, reasons and traces; default false.
    pub(super) push_redacted: Option<bool>,
    /// URL of the remote store's server, if it is not the platform's own.
    pub(super) endpoint: Option<EndpointUrl>,
    /// Region of the remote store's bucket.
    pub(super) region: Option<String>,
    /// Whether an `http://` endpoint is allowed; default false.
    pub(super) allow_http: Option<bool>,
    /// Number of items from which a result is stored in parts, in two files; default 50000.
    pub(super) parts_from: Option<PositiveInt>,
    /// Whether results, journals, the index and caches are readable by their owner alone; default true.
    pub(super) private: Option<bool>,
}

/// What `cargo cobalt run --changed` compares besides the files of the package. Paths are relative to the package or the workspace root.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Changed {
    /// Further files, folders and patterns that agents read, such as "../prompts" or "config/*.yaml".
    pub also: Vec<String>,
    /// Files and folders of the package that agents do not read, by paths and patterns, such as "docs".
    pub ignore: Vec<String>,
    /// Further environment variables that agents read.
    pub variables: Vec<String>,
}

/// The price of a model, in USD per 1,000,000 tokens.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table with `input` and `output`")]
pub(super) struct ModelPrice {
    /// Input (prompt) tokens.
    pub(super) input: Dollars,
    /// Output (completion) tokens, including hidden reasoning; 0 for an embedding model.
    pub(super) output: Dollars,
    /// Input tokens read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached_input: Option<Dollars>,
    /// The rates of a whole request whose prompt is longer than a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) long_prompt: Option<LongPrompt>,
}

/// The rates of a whole request whose prompt is longer than a limit, in USD per 1,000,000 tokens.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table with `above`, `input` and `output`"
)]
pub(super) struct LongPrompt {
    /// The longest prompt, in tokens, at the ordinary rates.
    pub(super) above: u64,
    /// Input (prompt) tokens.
    pub(super) input: Dollars,
    /// Output (completion) tokens.
    pub(super) output: Dollars,
}

/// Settings of `cargo cobalt serve`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Dashboard {
    /// Port to listen on, 0 for any free port; default: 4000, or the next free port.
    port: Option<Port>,
    /// Whether to open the browser; default true.
    open: Option<bool>,
    /// Editor that opens source files, or its URL with `{path}`, `{line}` and `{column}`.
    editor: Option<EditorUrl>,
}

/// A port: a whole number from 0 to 65535.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Port(u16);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Port;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a port from 0 to 65535")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Port, E> {
                let port = u16::try_from(number).map(Port);
                port.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

/// The resolved settings of the dashboard.
#[derive(Clone, Debug)]
pub struct DashboardSettings {
    port: Option<u16>,
    open: bool,
    editor: Option<EditorUrl>,
}

impl DashboardSettings {
    /// The default port.
    pub const DEFAULT_PORT: u16 = 4000;

    /// The configured port, 0 for any free port; `None` if not configured.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether to open the browser.
    #[must_use]
    pub fn opens_browser(&self) -> bool {
        self.open
    }

    /// The URL that opens a file in the editor, with `{path}`, `{line}` and `{column}` to replace.
    #[must_use]
    pub fn editor_url(&self) -> Option<&str> {
        self.editor.as_ref().map(|EditorUrl(url)| &**url)
    }
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    pub fn dashboard(&mut self, written: Dashboard) -> DashboardSettings {
        let Dashboard { port, open, editor } = written;
        self.or_default("dashboard.port", port, || Port(DashboardSettings::DEFAULT_PORT));
        let open = self.or_default("dashboard.open", open, || true);
        self.note_written("dashboard.editor", editor.as_ref());
        DashboardSettings { port: port.map(|Port(port)| port), open, editor }
    }
}

/// Where spans come from, and what is kept of traces. Evaluators see them whole.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct TraceTable {
    /// Whether messages, arguments, results and attributes are kept; default true.
    content: Option<bool>,
    /// Maximum length of a text in bytes; the rest is cut; default 4096.
    max_text: Option<PositiveInt>,
    /// Whether agents can export spans by OTLP; default false.
    otlp: Option<bool>,
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// The limits, and whether spans can be exported.
    pub fn trace(&mut self, written: TraceTable) -> (ContentLimits, bool) {
        let TraceTable { content, max_text, otlp } = written;
        let default = ContentLimits::default();
        let content = self.or_default("trace.content", content, || default.content);
        let PositiveInt(text) = self.or_default("trace.max-text", max_text, || PositiveInt(default.text));
        let otlp = self.or_default("trace.otlp", otlp, || false);
        (ContentLimits { content, text }, otlp)
    }
}

/// Redaction of stored, displayed and served text. Known secrets are always redacted.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Redaction {
    /// Whether to also redact strings that look like keys; default true.
    forms: Option<bool>,
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    pub fn redacts_forms(&mut self, written: Redaction) -> Result<bool, ConfigError> {
        let key = "redaction.forms";
        let forms = first_set([
            (self.variables.redaction_forms()?, Origin::variable(REDACTION_FORMS)),
            (written.forms, self.origin(key)),
        ]);
        let (forms, origin) = forms.unwrap_or((true, Origin::Default));
        self.note(key, &forms, origin);
        Ok(forms)
    }
}

/// Number of items from which a result is stored in parts, by default.
const DEFAULT_PARTS_FROM: usize = 50_000;

/// The default base directory.
const DEFAULT_DIR: &str = ".cobalt";
/// The folder of the baselines in the workspace of an archive, whatever the project's settings say.
pub const ARCHIVED_BASELINES: &str = ".cobalt/baselines";

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// Resolves where runs are stored. `COBALT_DIR` moves everything, so the file's settings for the parts are ignored then.
    pub fn layout(&mut self, storage: Storage) -> Layout {
        let dir = first_set([
            (self.variables.path(DIR), Origin::variable(DIR)),
            (storage.dir, self.origin("storage.dir")),
        ]);
        let (dir, origin) = dir.unwrap_or((DEFAULT_DIR.into(), Origin::Default));
        let archived = self.storage_root();
        let root = archived.clone().unwrap_or_else(|| self.workspace.clone());
        let dir = root.join(dir);
        self.note("storage.dir", &dir, origin.clone());
        let parts = [
            ("storage.results", RESULTS_DIR, storage.results, "results"),
            ("storage.history", HISTORY_DB, storage.history, "history.db"),
            ("storage.cache", CACHE_DIR, storage.cache, "cache"),
        ];
        let [results, history, cache] = parts.map(|(key, variable, written, name)| {
            let written = written.filter(|_| origin != Origin::variable(DIR));
            let part = first_set([
                (self.variables.path(variable), Origin::variable(variable)),
                (written, self.origin(key)),
            ]);
            let (path, origin) = part.unwrap_or((dir.join(name), origin.clone()));
            let path = root.join(path);
            self.note(key, &path, origin);
            path
        });
        let layout = Layout::new(dir, results, history, cache);
        if archived.is_some() {
            layout.with_baselines(self.workspace.join(ARCHIVED_BASELINES))
        } else {
            layout
        }
    }

    /// The folder at which relative paths of stored files start, if it is not the workspace root.
    pub(super) fn storage_root(&self) -> Option<PathBuf> {
        let flag = self.flags.storage_root.as_deref().map(absolute_path);
        flag.or_else(|| self.variables.path(STORAGE_ROOT))
    }

    /// Resolves from how many items on a result is kept in parts.
    pub fn parts_from(&mut self, written: Option<PositiveInt>) -> usize {
        let key = "storage.parts-from";
        let written = first_set([(written, self.origin(key))]);
        let (parts_from, origin) = match written {
            Some((PositiveInt(items), origin)) => (items, origin),
            None => (DEFAULT_PARTS_FROM, Origin::Default),
        };
        self.note(key, &parts_from, origin);
        parts_from
    }
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    pub fn prices(&mut self, written: BTreeMap<String, ModelPrice>) -> PriceTable {
        let mut table = PriceTable::default();
        for (model, price) in written {
            self.note_written(&dotted_key("prices", &model), Some(&price));
            table.insert(model, price.into()).expect("amounts are checked as they are read");
        }
        table
    }
}

impl From<ModelPrice> for Price {
    fn from(written: ModelPrice) -> Self {
        let ModelPrice { input: Dollars(input), output: Dollars(output), cached_input, long_prompt } =
            written;
        Self {
            cached_input: cached_input.map(|Dollars(rate)| rate),
            long_prompt: long_prompt.map(|long| prices::LongPrompt {
                above: long.above,
                input: long.input.0,
                output: long.output.0,
            }),
            ..Self::new(input, output)
        }
    }
}
