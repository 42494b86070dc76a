//! Facts about each vendor: the URL of its API, the variable for its key, and its models.

use super::Provider;

/// The task of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Judge,
    Embedding,
    Moderation,
}

/// The default moderation model.
const DEFAULT_MODERATION_MODEL: &str = "omni-moderation-latest";
/// The default judge models, in order of preference: an inexpensive one for each vendor.
pub const DEFAULT_JUDGES: [(Provider, &str); 3] = [
    (Provider::OpenAi, "gpt-6-luna"),
    (Provider::Anthropic, "claude-haiku-5-5"),
    (Provider::Gemini, "gemini-3.5-flash-lite"),
];

impl Provider {
    /// The environment variables for its key, the usual one first.
    pub(super) fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Azure => &["AZURE_OPENAI_API_KEY"],
            Self::Cohere => &["CO_API_KEY", "COHERE_API_KEY"],
            Self::Voyage => &["VOYAGE_API_KEY"],
            Self::Local => &[],
        }
    }

    /// The provider of a key, by the name of its environment variable.
    pub(super) fn of_key_variable(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.key_variables().contains(&name))
    }

    /// The environment variable for its base URL.
    pub(super) fn base_url_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_BASE_URL"),
            Self::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Self::Gemini => Some("GEMINI_BASE_URL"),
            Self::Azure => Some("AZURE_OPENAI_ENDPOINT"),
            Self::Cohere | Self::Voyage | Self::Local => None,
        }
    }

    /// The base URL of its API; `None` if it differs per account, or none is needed.
    pub(super) fn own_base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta/openai"),
            Self::Cohere => Some("https://api.cohere.com"),
            Self::Voyage => Some("https://api.voyageai.com/v1"),
            Self::Azure | Self::Local => None,
        }
    }

    /// The default model of the provider: an inexpensive one. `None` if there is none, as on Azure, where users name their
    /// deployments.
    pub(super) fn default_model(self, role: Role) -> Option<&'static str> {
        match (role, self) {
            (_, Self::Azure) => None,
            (Role::Judge, _) => {
                DEFAULT_JUDGES.iter().find(|(provider, _)| *provider == self).map(|(_, model)| *model)
            }
            (Role::Moderation, _) => Some(DEFAULT_MODERATION_MODEL),
            (Role::Embedding, Self::OpenAi) => Some("text-embedding-3-small"),
            (Role::Embedding, Self::Gemini) => Some("gemini-embedding-001"),
            (Role::Embedding, Self::Cohere) => Some("embed-v4.0"),
            (Role::Embedding, Self::Voyage) => Some("voyage-4-lite"),
            (Role::Embedding, Self::Local) => Some("local"),
            (Role::Embedding, Self::Anthropic) => None,
        }
    }

    /// Whether it has models for a role.
    pub(super) fn supports(self, role: Role) -> bool {
        match role {
            Role::Judge => self.has_judge_models(),
            Role::Embedding => self.has_embeddings(),
            Role::Moderation => self == Self::OpenAi,
        }
    }

    /// The vendor of a model, by its name.
    pub(super) fn of_model(model: &str) -> Option<Self> {
        let is = |beginnings: &[&str]| beginnings.iter().any(|beginning| model.starts_with(beginning));
        let is_o_series =
            model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if is_o_series || is(&["gpt", "chatgpt", "text-embedding", "omni-moderation", "text-moderation"]) {
            return Some(Self::OpenAi);
        }
        let others = [
            (Self::Anthropic, &["claude"][..]),
            (Self::Gemini, &["gemini"]),
            (Self::Cohere, &["embed-", "command-"]),
            (Self::Voyage, &["voyage-"]),
        ];
        others.into_iter().find_map(|(provider, beginnings)| is(beginnings).then_some(provider))
    }

    /// Splits a vendor prefix from a model: `openai/gpt-4o`.
    pub(super) fn split_prefix(model: &str) -> Option<(Self, &str)> {
        let (prefix, bare) = model.split_once('/')?;
        let provider = match prefix {
            "openai" => Self::OpenAi,
            "anthropic" => Self::Anthropic,
            "google" | "gemini" | "models" => Self::Gemini,
            "azure" => Self::Azure,
            "cohere" => Self::Cohere,
            "voyage" | "voyageai" => Self::Voyage,
            _ => return None,
        };
        Some((provider, bare))
    }

    /// Whether this is the vendor's own URL.
    pub(super) fn owns(self, base_url: &str) -> bool {
        if self == Self::Azure {
            let domains = [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
            return origin(base_url).is_some_and(|(scheme, host)| {
                scheme == "https" && domains.iter().any(|domain| host.ends_with(domain))
            });
        }
        self.own_base_url().is_some_and(|own| is_same_origin(own, base_url))
    }
}

/// Whether two URLs have the same origin: scheme, host and port.
pub fn is_same_origin(one: &str, other: &str) -> bool {
    match (origin(one), origin(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// The scheme, and the host with its port. `None` for a URL with a user, which could be mistaken for the host.
fn origin(address: &str) -> Option<(String, String)> {
    let (scheme, rest) = address.trim().split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?.to_ascii_lowercase();
    let scheme = scheme.to_ascii_lowercase();
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.strip_suffix(default_port).unwrap_or(&authority).to_owned();
    (!authority.is_empty() && !authority.contains('@')).then_some((scheme, authority))
}

#[cfg(test)]
mod tests {
    use cobalt_core::prices::builtin_price;

    use super::*;

    #[test]
    fn the_models_asked_by_default_have_a_price() {
        let embeddings = [Provider::OpenAi, Provider::Gemini, Provider::Cohere, Provider::Voyage];
        let embeddings = embeddings.map(|provider| provider.default_model(Role::Embedding).unwrap());
        for model in DEFAULT_JUDGES.map(|(_, model)| model).into_iter().chain(embeddings) {
            assert!(builtin_price(model).is_some(), "{model}");
        }
    }

    #[test]
    fn a_default_model_is_its_vendors_own() {
        for provider in Provider::ALL {
            for role in [Role::Judge, Role::Embedding] {
                let model = provider.default_model(role).filter(|model| *model != "local");
                assert!(model.is_none_or(|model| Provider::of_model(model) == Some(provider)), "{model:?}");
            }
        }
    }

    #[test]
    fn a_name_tells_whose_model_it_is() {
        for (model, provider) in [
            ("claude-haiku-4-5-20251001", Some(Provider::Anthropic)),
            ("gemini-3.8-flash", Some(Provider::Gemini)),
            ("gpt-6-luna", Some(Provider::OpenAi)),
            ("o4-mini", Some(Provider::OpenAi)),
            ("chatgpt-4o-latest", Some(Provider::OpenAi)),
            ("omni-moderation-latest", Some(Provider::OpenAi)),
            ("embed-v4.0", Some(Provider::Cohere)),
            ("voyage-4", Some(Provider::Voyage)),
            ("olmo-2", None),
            ("llama3.3", None),
        ] {
            assert_eq!(Provider::of_model(model), provider, "{model}");
        }
    }

    #[test]
    fn only_the_vendors_own_address_is_taken_for_it() {
        for (provider, address, owns) in [
            (Provider::OpenAi, "https://api.openai.com/v1", true),
            (Provider::OpenAi, "https://API.openai.com:443", true),
            (Provider::OpenAi, "http://api.openai.com/v1", false),
            (Provider::OpenAi, "https://api.openai.com.evil.example/v1", false),
            (Provider::OpenAi, "https://api.openai.com@evil.example/v1", false),
            (Provider::OpenAi, "https://api.openai.com:8443/v1", false),
            (Provider::Azure, "https://desk.openai.azure.com/openai/v1", true),
            (Provider::Azure, "https://evil.example/.openai.azure.com", false),
            (Provider::Azure, r"https://evil.example\.openai.azure.com", false),
            (Provider::Local, "https://api.openai.com/v1", false),
        ] {
            assert_eq!(provider.owns(address), owns, "{address}");
        }
    }
}
