//! The accounts that the file gives. What it does not say is left to the variables of each platform.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::tables::{Braintrust, LangSmith, Langfuse, OneKey, Platforms};
use crate::config::error::ConfigError;
use crate::config::merge::Merge;
use crate::dataset::settings::{Account, Key, Platform};
use crate::redact::Secret;
use crate::redact::{REDACTED, register_address, register_secret};
use crate::settings::{Address, KeyVariable, Word};

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// How each platform is asked that has a table.
    pub(in crate::config) fn accounts(
        &mut self,
        written: Platforms,
    ) -> Result<BTreeMap<Platform, Account>, ConfigError> {
        let Platforms { langfuse, langsmith, braintrust, basalt } = written;
        let accounts = [
            langfuse.map(|table| Ok((Platform::Langfuse, self.langfuse(table)?))),
            langsmith.map(|table| Ok((Platform::LangSmith, self.langsmith(table)?))),
            braintrust.map(|table| Ok((Platform::Braintrust, self.braintrust(table)?))),
            basalt.map(|table| Ok((Platform::Basalt, self.one_key("platforms.basalt", table)?))),
        ];
        accounts.into_iter().flatten().collect()
    }

    fn langfuse(&mut self, table: Langfuse) -> Result<Account, ConfigError> {
        let Langfuse { base_url, public_key, public_key_env, secret_key, secret_key_env } = table;
        let at = "platforms.langfuse";
        Ok(Account {
            base_url: self.base_url(at, base_url),
            public_key: self.key(at, "public-key", public_key, public_key_env)?,
            key: self.key(at, "secret-key", secret_key, secret_key_env)?,
            workspace: None,
        })
    }

    fn langsmith(&mut self, table: LangSmith) -> Result<Account, ConfigError> {
        let LangSmith { base_url, api_key, api_key_env, workspace } = table;
        let at = "platforms.langsmith";
        let account = self.one_key(at, OneKey { base_url, api_key, api_key_env })?;
        self.note_written(&format!("{at}.workspace"), workspace.as_ref());
        Ok(Account { workspace: workspace.map(|Word(id)| id), ..account })
    }

    fn braintrust(&mut self, table: Braintrust) -> Result<Account, ConfigError> {
        let Braintrust { base_url, api_key, api_key_env, organization } = table;
        let at = "platforms.braintrust";
        let account = self.one_key(at, OneKey { base_url, api_key, api_key_env })?;
        self.note_written(&format!("{at}.organization"), organization.as_ref());
        Ok(Account { workspace: organization.map(|Word(name)| name), ..account })
    }

    fn one_key(&mut self, table: &str, written: OneKey) -> Result<Account, ConfigError> {
        let OneKey { base_url, api_key, api_key_env } = written;
        Ok(Account {
            base_url: self.base_url(table, base_url),
            key: self.key(table, "api-key", api_key, api_key_env)?,
            ..Account::default()
        })
    }

    fn base_url(&mut self, table: &str, written: Option<Address>) -> Option<String> {
        if let Some(Address(url)) = &written {
            register_address(&format!("{table}.base-url"), url);
        }
        self.note_written(&format!("{table}.base-url"), written.as_ref());
        written.map(|Address(url)| url)
    }

    /// A key: itself, or the variable that holds it, and not both.
    fn key(
        &mut self,
        table: &str,
        name: &str,
        written: Option<Word>,
        variable: Option<KeyVariable>,
    ) -> Result<Option<Key>, ConfigError> {
        self.said_once(table, name, written.is_some(), variable.is_some())?;
        self.note_written(&format!("{table}.{name}"), written.as_ref().map(|_| REDACTED).as_ref());
        self.note_written(&format!("{table}.{name}-env"), variable.as_ref());
        if let Some(Word(secret)) = &written {
            register_secret(&format!("{table}.{name}"), secret);
        }
        self.register_variable(variable.as_ref());
        let variable = variable.map(|KeyVariable(name)| Key::Variable(name));
        Ok(written.map(|Word(key)| Key::Written(Secret(key))).or(variable))
    }
}
