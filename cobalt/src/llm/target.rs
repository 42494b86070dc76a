//! Resolves the choice of a model: the provider, the model, the URL, and the key.
//!
//! The evaluator's settings take precedence over the configuration. Of the latter, only settings for the same vendor apply,
//! and a key is only sent to the vendor or the URL that it is for.

use cobalt_core::prices::is_local_server;
use cobalt_core::redact::{Secret, register_secret};

use super::client::Target;
use super::vendors::{DEFAULT_JUDGES, Role, is_same_origin};
use super::{CheckError, CheckErrorKind, ModelChoice, ModelSettings, Provider};

/// Looks up an environment variable.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Resolves a choice.
pub fn resolve_target(
    role: Role,
    own: &ModelChoice,
    settings: &ModelSettings,
    variable: Lookup<'_>,
) -> Result<Target, CheckError> {
    let configured = match role {
        Role::Embedding => &settings.embedding,
        // The judge's vendor may also moderate, but never with the same model.
        Role::Judge | Role::Moderation => &settings.judge,
    };
    let found = TargetResolver { role, own, configured, variable: Variables(variable) };
    let (provider, model) = found.model()?;
    if !provider.supports(role) {
        return Err(CheckError::new(unsupported_role(provider, role)));
    }
    let temperature = own.temperature.or(configured.temperature);
    if provider == Provider::Local {
        found.check_local(&model)?;
        return Ok(Target { provider, model, base_url: String::new(), api_key: None, temperature: None });
    }
    let base_url = found.base_url(provider)?;
    let api_key = found.key(provider, &model, &base_url)?;
    let model = match Provider::split_prefix(&model) {
        // Gateways expect the vendor's name in front of the model's; the vendor itself does not.
        Some((named, bare)) if named == provider && provider.owns(&base_url) => bare.to_owned(),
        _ => model,
    };
    Ok(Target { provider, model, base_url, api_key, temperature })
}

/// The model that a choice names, without what is only needed to call it.
#[derive(Clone, Debug)]
pub struct NamedModel {
    pub model: String,
    pub temperature: Option<f64>,
    /// Whether it is on this machine.
    pub is_local: bool,
    /// Whether a setting names it; otherwise it depends on the keys that are set.
    pub is_chosen: bool,
}

/// Resolves the model of a choice. No key is needed.
pub fn resolve_model(
    role: Role,
    own: &ModelChoice,
    settings: &ModelSettings,
    variable: Lookup<'_>,
) -> Result<NamedModel, CheckError> {
    let configured = match role {
        Role::Embedding => &settings.embedding,
        Role::Judge | Role::Moderation => &settings.judge,
    };
    let found = TargetResolver { role, own, configured, variable: Variables(variable) };
    let (provider, model) = found.model()?;
    let taken_over = found.applicable_config(provider).filter(|_| role != Role::Moderation);
    let is_chosen = own.model.is_some() || taken_over.is_some_and(|configured| configured.model.is_some());
    let model = Provider::split_prefix(&model).map_or(model.as_str(), |(_, bare)| bare).to_owned();
    let is_local = found.base_url(provider).is_ok_and(|url| is_local_server(&url));
    Ok(NamedModel { model, is_local, temperature: own.temperature.or(configured.temperature), is_chosen })
}

/// The inputs of the resolution.
struct TargetResolver<'a> {
    role: Role,
    own: &'a ModelChoice,
    configured: &'a ModelChoice,
    variable: Variables<'a>,
}

/// Environment variables; empty ones count as unset.
#[derive(Clone, Copy)]
struct Variables<'a>(Lookup<'a>);

impl Variables<'_> {
    fn get(self, name: &str) -> Option<String> {
        let value = (self.0)(name)?;
        // A key read from a file ends with a line break.
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl ModelChoice {
    /// The provider: as set, or derived from the model, or from the variable of the key.
    pub(crate) fn vendor(&self) -> Option<Provider> {
        let of_model = |model: &String| {
            // Gateways prefix models with their vendors, but use OpenAI's API.
            let prefixed = Provider::split_prefix(model).filter(|_| self.base_url.is_none());
            prefixed.map(|(provider, _)| provider).or_else(|| Provider::of_model(model))
        };
        self.provider
            .or_else(|| self.model.as_ref().and_then(of_model))
            .or_else(|| self.api_key_env.as_ref().and_then(|name| Provider::of_key_variable(name)))
    }

    /// The same, with OpenAI (or a compatible API) as the default if anything else is set.
    pub(crate) fn vendor_if_any(&self) -> Option<Provider> {
        let is_any = self.model.is_some() || self.base_url.is_some() || self.has_key();
        self.vendor().or_else(|| is_any.then_some(Provider::OpenAi))
    }

    pub(crate) fn has_key(&self) -> bool {
        self.api_key.is_some() || self.api_key_env.is_some()
    }
}

impl TargetResolver<'_> {
    /// The provider, and its model.
    fn model(&self) -> Result<(Provider, String), CheckError> {
        let provider = self.provider();
        let (provider, default) = match provider {
            Some(provider) => (provider, provider.default_model(self.role)),
            None => self.default_provider(),
        };
        // The configured judge model cannot moderate.
        let taken_over = self.applicable_config(provider).filter(|_| self.role != Role::Moderation);
        let said = self.own.model.as_ref().or_else(|| taken_over?.model.as_ref());
        match said.map(String::as_str).or(default) {
            Some(model) => Ok((provider, model.to_owned())),
            None if provider.supports(self.role) => Err(CheckError::new(format!(
                "{provider} needs a model name; set `model` (on Azure, the name of the deployment)"
            ))),
            None => Err(CheckError::new(unsupported_role(provider, self.role))),
        }
    }

    /// The provider, if any setting determines it.
    fn provider(&self) -> Option<Provider> {
        if self.role == Role::Moderation {
            return Some(self.own.vendor_if_any().unwrap_or(Provider::OpenAi));
        }
        let configured = self.configured.vendor_if_any();
        match self.own.vendor() {
            // OpenAI's models are also on Azure, under the same names: prefer a configured Azure.
            Some(Provider::OpenAi) if self.own.provider.is_none() && configured == Some(Provider::Azure) => {
                configured
            }
            // A configured gateway serves other vendors' models, by their prefixed names.
            Some(_) if self.is_gateway_model() => configured,
            Some(provider) => Some(provider),
            // Assume the most common API for a custom model at a custom URL.
            None if self.own.base_url.is_some() && self.own.model.is_some() => Some(Provider::OpenAi),
            None => configured.or_else(|| self.own.vendor_if_any()),
        }
    }

    /// Whether a gateway is configured, and the evaluator's model has a vendor prefix.
    fn is_gateway_model(&self) -> bool {
        let ModelChoice { model, provider, base_url, .. } = self.own;
        let is_prefixed = model.as_ref().is_some_and(|model| Provider::split_prefix(model).is_some());
        let is_gateway =
            self.configured.base_url.is_some() && self.configured.vendor_if_any() == Some(Provider::OpenAi);
        is_prefixed && is_gateway && provider.is_none() && base_url.is_none()
    }

    /// The default provider: a vendor with a key in the environment.
    fn default_provider(&self) -> (Provider, Option<&'static str>) {
        let has_key = |provider: Provider| {
            provider.key_variables().iter().any(|name| self.variable.get(name).is_some())
        };
        let judge =
            DEFAULT_JUDGES.into_iter().find(|(provider, _)| self.role == Role::Judge && has_key(*provider));
        let provider = judge.map_or(Provider::OpenAi, |(provider, _)| provider);
        (provider, provider.default_model(self.role))
    }

    /// Rejects the provider `local` if a model or URL is set, which it would ignore.
    fn check_local(&self, model: &str) -> Result<(), CheckError> {
        let has_address = |choice: &ModelChoice| choice.base_url.is_some();
        let is_model = Some(model) != Provider::Local.default_model(Role::Embedding);
        if !is_model
            && !has_address(self.own)
            && !self.applicable_config(Provider::Local).is_some_and(has_address)
        {
            return Ok(());
        }
        Err(CheckError::new(
            "the provider `local` uses no model; remove `model` and `base-url`, or set another `provider`",
        ))
    }

    /// The configuration, if it is for the same vendor.
    fn applicable_config(&self, provider: Provider) -> Option<&ModelChoice> {
        Some(self.configured).filter(|configured| configured.vendor_if_any() == Some(provider))
    }

    fn base_url(&self, provider: Provider) -> Result<String, CheckError> {
        let configured = self.applicable_config(provider).and_then(|configured| configured.base_url.clone());
        let said = self.own.base_url.clone().or(configured);
        let found = said
            .or_else(|| self.variable_base_url(provider))
            .or_else(|| provider.own_base_url().map(str::to_owned));
        let found = found.map(|url| url.trim_end_matches('/').to_owned());
        found.ok_or_else(|| {
            CheckError::new(format!(
                "{provider} needs the URL of your resource; set AZURE_OPENAI_ENDPOINT, such as \
                `https://<resource>.openai.azure.com`, or `base-url`"
            ))
        })
    }

    /// The base URL from an environment variable.
    fn variable_base_url(&self, provider: Provider) -> Option<String> {
        let url = self.variable.get(provider.base_url_variable()?)?;
        let url = url.trim_end_matches('/');
        Some(match provider {
            // The variable contains only the resource.
            Provider::Azure if !url.contains("/openai") => format!("{url}/openai/v1"),
            _ => url.to_owned(),
        })
    }

    /// The key for a URL: the one set for it, or the vendor's default key for the vendor's own URL.
    fn key(&self, provider: Provider, model: &str, base_url: &str) -> Result<Option<Secret>, CheckError> {
        let key = self.find_key(provider, model, base_url)?;
        key.iter().for_each(|Secret(key)| register_secret(&format!("key-of-{}", provider.name()), key));
        Ok(key)
    }

    fn find_key(
        &self,
        provider: Provider,
        model: &str,
        base_url: &str,
    ) -> Result<Option<Secret>, CheckError> {
        let configured = self.applicable_config(provider).filter(|configured| {
            // A configured key is for the configured URL.
            self.own.base_url.is_none() || self.own.base_url == configured.base_url
        });
        let said = [Some(self.own), configured].into_iter().flatten().find(|choice| choice.has_key());
        let missing = |variable: &str, hint: &str| {
            let asked_for = format!("`{model}` of {provider}{hint}");
            CheckError(CheckErrorKind::MissingKey { variable: variable.to_owned(), asked_for })
        };
        if let Some(ModelChoice { api_key: Some(key), .. }) = said {
            return Ok(Some(key.clone()));
        }
        if let Some(name) = said.and_then(|choice| choice.api_key_env.as_ref()) {
            let others = Provider::of_key_variable(name).filter(|other| *other != provider);
            if let Some(other) = others.filter(|_| provider.owns(base_url)) {
                return Err(CheckError::new(format!(
                    "{name} is the key for {other}, but `{model}` is from {provider}; name a variable with a key for \
                    {provider}, or remove `api-key-env`"
                )));
            }
            return self.variable.get(name).map(|key| Some(Secret(key))).ok_or_else(|| missing(name, ""));
        }
        let is_its_own = provider.owns(base_url)
            || self.variable_base_url(provider).is_some_and(|url| is_same_origin(&url, base_url));
        if !is_its_own {
            return Ok(None);
        }
        let variables = provider.key_variables();
        let key = variables.iter().find_map(|name| self.variable.get(name));
        key.map(|key| Some(Secret(key))).ok_or_else(|| missing(variables[0], self.missing_key_hint()))
    }

    /// Alternatives to the missing key, if no setting determines the provider.
    fn missing_key_hint(&self) -> &'static str {
        match self.provider() {
            None if self.role == Role::Judge => {
                " (or set ANTHROPIC_API_KEY or GEMINI_API_KEY to use a model of that provider)"
            }
            None => {
                " (or use the provider `local`, which compares texts by their characters and needs no key)"
            }
            Some(_) => "",
        }
    }
}

/// The error for a provider without models for a role, which lists those that have them.
fn unsupported_role(provider: Provider, role: Role) -> String {
    let what = match role {
        Role::Judge => "judge models",
        Role::Embedding => "embeddings",
        Role::Moderation => "moderation",
    };
    provider.missing_capability(what, |other| other.supports(role))
}
