//! Whom a choice of models leads to: the provider, the model, where it is asked, and with which key.
//!
//! What an evaluator says comes before what is configured. Of the latter, only what belongs to the same vendor is taken
//! over, and a key goes nowhere but to the vendor or the address that it is for.

use cobalt_core::redact::{Secret, register_secret};

use super::client::Target;
use super::vendors::{JUDGES, Role, is_same_origin};
use super::{CheckError, ModelChoice, ModelSettings, Provider, Unfit};

/// Looks up an environment variable.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Whom a choice leads to.
pub fn target(
    role: Role,
    own: &ModelChoice,
    settings: &ModelSettings,
    variable: Lookup<'_>,
) -> Result<Target, CheckError> {
    let configured = match role {
        Role::Embedding => &settings.embedding,
        // Who judges may moderate, too; but never by the same model.
        Role::Judge | Role::Moderation => &settings.judge,
    };
    let found = Search { role, own, configured, variable: Variables(variable) };
    let (provider, model) = found.model()?;
    if !provider.can(role) {
        return Err(CheckError::new(cannot(provider, role)));
    }
    let temperature = own.temperature.or(configured.temperature);
    if provider == Provider::Local {
        found.check_local(&model)?;
        return Ok(Target { provider, model, base_url: String::new(), api_key: None, temperature: None });
    }
    let base_url = found.base_url(provider)?;
    let api_key = found.key(provider, &model, &base_url)?;
    let model = match Provider::prefixed(&model) {
        // A vendor does not know its name as part of its models' names; a gateway does.
        Some((named, bare)) if named == provider && provider.owns(&base_url) => bare.to_owned(),
        _ => model,
    };
    Ok(Target { provider, model, base_url, api_key, temperature })
}

/// What is known of a choice before it leads somewhere.
struct Search<'a> {
    role: Role,
    own: &'a ModelChoice,
    configured: &'a ModelChoice,
    variable: Variables<'a>,
}

/// Environment variables, of which an empty one counts as missing.
#[derive(Clone, Copy)]
struct Variables<'a>(Lookup<'a>);

impl Variables<'_> {
    fn get(self, name: &str) -> Option<String> {
        let value = (self.0)(name)?;
        // A line break at the end comes with a key that was read from a file.
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl ModelChoice {
    /// The provider that is named, or follows from the model, or from the variable of the key.
    pub(crate) fn vendor(&self) -> Option<Provider> {
        let of_model = |model: &String| {
            // Gateways name models with their vendors, and speak OpenAI's API all the same.
            let prefixed = Provider::prefixed(model).filter(|_| self.base_url.is_none());
            prefixed.map(|(provider, _)| provider).or_else(|| Provider::of_model(model))
        };
        self.provider
            .or_else(|| self.model.as_ref().and_then(of_model))
            .or_else(|| self.api_key_env.as_ref().and_then(|name| Provider::of_key_variable(name)))
    }

    /// The same, where something is said of whom to ask: OpenAI, or what speaks its API, where nothing tells more.
    pub(crate) fn vendor_if_any(&self) -> Option<Provider> {
        let is_any = self.model.is_some() || self.base_url.is_some() || self.has_key();
        self.vendor().or_else(|| is_any.then_some(Provider::OpenAi))
    }

    pub(crate) fn has_key(&self) -> bool {
        self.api_key.is_some() || self.api_key_env.is_some()
    }
}

impl Search<'_> {
    /// The provider, and the model to ask there.
    fn model(&self) -> Result<(Provider, String), CheckError> {
        let provider = self.provider();
        let (provider, default) = match provider {
            Some(provider) => (provider, provider.default_model(self.role)),
            None => self.unsaid(),
        };
        // What is configured for judges moderates nothing.
        let taken_over = self.taken_over(provider).filter(|_| self.role != Role::Moderation);
        let said = self.own.model.as_ref().or_else(|| taken_over?.model.as_ref());
        match said.map(String::as_str).or(default) {
            Some(model) => Ok((provider, model.to_owned())),
            None if provider.can(self.role) => Err(CheckError::new(format!(
                "{provider} needs the name of a model: set `model`, on Azure to the name of the deployment"
            ))),
            None => Err(CheckError::new(cannot(provider, self.role))),
        }
    }

    /// Who is asked, as far as something is said of it.
    fn provider(&self) -> Option<Provider> {
        if self.role == Role::Moderation {
            return Some(self.own.vendor_if_any().unwrap_or(Provider::OpenAi));
        }
        let configured = self.configured.vendor_if_any();
        match self.own.vendor() {
            // OpenAI's models are on Azure, too: under the same name, where no other address is said.
            Some(Provider::OpenAi) if self.own.provider.is_none() && configured == Some(Provider::Azure) => {
                configured
            }
            // A gateway that is configured is asked for the models of others, as it names them.
            Some(_) if self.is_gateways() => configured,
            Some(provider) => Some(provider),
            // Another model at another address speaks the API that most of them speak.
            None if self.own.base_url.is_some() && self.own.model.is_some() => Some(Provider::OpenAi),
            None => configured.or_else(|| self.own.vendor_if_any()),
        }
    }

    /// Whether a gateway is configured, and the evaluator's model named as gateways name them.
    fn is_gateways(&self) -> bool {
        let ModelChoice { model, provider, base_url, .. } = self.own;
        let is_prefixed = model.as_ref().is_some_and(|model| Provider::prefixed(model).is_some());
        let is_gateway =
            self.configured.base_url.is_some() && self.configured.vendor_if_any() == Some(Provider::OpenAi);
        is_prefixed && is_gateway && provider.is_none() && base_url.is_none()
    }

    /// Who is asked where nothing is said of it: a vendor that there is a key for.
    fn unsaid(&self) -> (Provider, Option<&'static str>) {
        let has_key = |provider: Provider| {
            provider.key_variables().iter().any(|name| self.variable.get(name).is_some())
        };
        let judge = JUDGES.into_iter().find(|(provider, _)| self.role == Role::Judge && has_key(*provider));
        let provider = judge.map_or(Provider::OpenAi, |(provider, _)| provider);
        (provider, provider.default_model(self.role))
    }

    /// Refuses to compare by characters where a model is named that is not asked then.
    fn check_local(&self, model: &str) -> Result<(), CheckError> {
        let has_address = |choice: &ModelChoice| choice.base_url.is_some();
        let is_model = Some(model) != Provider::Local.default_model(Role::Embedding);
        if !is_model && !has_address(self.own) && !self.taken_over(Provider::Local).is_some_and(has_address) {
            return Ok(());
        }
        Err(CheckError::new(
            "the provider `local` asks no model; leave `model` and `base-url` out, or set another `provider`",
        ))
    }

    /// What is configured, where it is about the same vendor.
    fn taken_over(&self, provider: Provider) -> Option<&ModelChoice> {
        Some(self.configured).filter(|configured| configured.vendor_if_any() == Some(provider))
    }

    fn base_url(&self, provider: Provider) -> Result<String, CheckError> {
        let configured = self.taken_over(provider).and_then(|configured| configured.base_url.clone());
        let said = self.own.base_url.clone().or(configured);
        let found = said
            .or_else(|| self.variable_base_url(provider))
            .or_else(|| provider.own_base_url().map(str::to_owned));
        let found = found.map(|url| url.trim_end_matches('/').to_owned());
        found.ok_or_else(|| {
            CheckError::new(format!(
                "{provider} needs the address of your resource: set AZURE_OPENAI_ENDPOINT, as in \
                 `https://<resource>.openai.azure.com`, or `base-url`"
            ))
        })
    }

    /// The base URL that a variable tells.
    fn variable_base_url(&self, provider: Provider) -> Option<String> {
        let url = self.variable.get(provider.base_url_variable()?)?;
        let url = url.trim_end_matches('/');
        Some(match provider {
            // The variable holds the resource alone.
            Provider::Azure if !url.contains("/openai") => format!("{url}/openai/v1"),
            _ => url.to_owned(),
        })
    }

    /// The key for an address: one that is said for it, or the vendor's own for the vendor's own address.
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
        let configured = self.taken_over(provider).filter(|configured| {
            // A configured key is for the configured address.
            self.own.base_url.is_none() || self.own.base_url == configured.base_url
        });
        let said = [Some(self.own), configured].into_iter().flatten().find(|choice| choice.has_key());
        let missing = |variable: &str, hint: &str| {
            let asked_for = format!("`{model}` of {provider}{hint}");
            CheckError(Unfit::MissingKey { variable: variable.to_owned(), asked_for })
        };
        if let Some(ModelChoice { api_key: Some(key), .. }) = said {
            return Ok(Some(key.clone()));
        }
        if let Some(name) = said.and_then(|choice| choice.api_key_env.as_ref()) {
            let others = Provider::of_key_variable(name).filter(|other| *other != provider);
            if let Some(other) = others.filter(|_| provider.owns(base_url)) {
                return Err(CheckError::new(format!(
                    "{name} holds a key of {other}, and `{model}` is asked of {provider}; name a variable with a key of \
                     {provider}, or leave `api-key-env` out"
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
        key.map(|key| Some(Secret(key))).ok_or_else(|| missing(variables[0], self.others()))
    }

    /// What else would do, where nothing is said of whom to ask.
    fn others(&self) -> &'static str {
        match self.provider() {
            None if self.role == Role::Judge => {
                " (with ANTHROPIC_API_KEY or GEMINI_API_KEY instead, a model of that vendor is asked)"
            }
            None => " (without one, the provider `local` compares texts by their characters)",
            Some(_) => "",
        }
    }
}

/// Says that a provider has no model for this, and who has.
fn cannot(provider: Provider, role: Role) -> String {
    let what = match role {
        Role::Judge => "models that judge",
        Role::Embedding => "embeddings",
        Role::Moderation => "moderation",
    };
    provider.lacks(what, |other| other.can(role))
}
