//! The providers whose traffic passes through the gateway, and how clients are led there.

use std::borrow::Cow;

use cobalt_core::redact::{is_secret, without_secrets};

/// A provider's API.
#[derive(Debug)]
pub struct ProviderRoute {
    /// The name in addresses, in recordings and in limits.
    pub name: &'static str,
    /// The path at the end of the provider's base URL, which clients expect.
    pub base_path: &'static str,
    /// The provider's base URL; `None` if it differs per account.
    pub own: Option<&'static str>,
    /// Variables from which clients read the base URL. They are set for the process if the provider has a base URL of its own.
    pub variables: &'static [&'static str],
    /// Further variables, which are only replaced if they are set: clients differ in what they expect there.
    pub if_set: &'static [&'static str],
    /// Variables from which clients read the key.
    pub keys: &'static [&'static str],
    /// The beginnings of paths that clients send if they expect another path in the base URL, and what is missing before them.
    missing: &'static [(&'static str, &'static str)],
}

/// The API of OpenAI below another path than its own.
const fn openai_api(path: &'static str) -> [(&'static str, &'static str); 4] {
    [("/chat/completions", path), ("/completions", path), ("/responses", path), ("/embeddings", path)]
}

const GEMINI: [(&str, &str); 5] = {
    let [a, b, c, d] = openai_api("/v1beta/openai");
    [a, b, c, d, ("/models", "/v1beta")]
};

const OLLAMA: [(&str, &str); 9] = {
    let [a, b, c, d] = openai_api("/v1");
    [
        a,
        b,
        c,
        d,
        ("/models", "/v1"),
        ("/chat", "/api"),
        ("/generate", "/api"),
        ("/embed", "/api"),
        ("/tags", "/api"),
    ]
};

const fn provider(
    name: &'static str,
    base_path: &'static str,
    own: &'static str,
    variables: &'static [&'static str],
    keys: &'static [&'static str],
) -> ProviderRoute {
    ProviderRoute { name, base_path, own: Some(own), variables, if_set: &[], keys, missing: &[] }
}

/// All providers with a name of their own. Any other server is reached by its address.
pub const PROVIDERS: &[ProviderRoute] = &[
    provider(
        "openai",
        "/v1",
        "https://api.openai.com/v1",
        &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        &["OPENAI_API_KEY"],
    ),
    ProviderRoute {
        // Some expect the address of an endpoint there.
        if_set: &["ANTHROPIC_API_URL"],
        missing: &[("/messages", "/v1"), ("/models", "/v1")],
        ..provider(
            "anthropic",
            "",
            "https://api.anthropic.com",
            &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"],
            &["ANTHROPIC_API_KEY"],
        )
    },
    ProviderRoute {
        missing: &GEMINI,
        ..provider(
            "gemini",
            "",
            "https://generativelanguage.googleapis.com",
            &["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        )
    },
    provider(
        "cohere",
        "",
        "https://api.cohere.com",
        &["CO_API_URL", "COHERE_BASE_URL"],
        &["CO_API_KEY", "COHERE_API_KEY"],
    ),
    provider(
        "mistral",
        "/v1",
        "https://api.mistral.ai/v1",
        &["MISTRAL_BASE_URL", "MISTRAL_API_BASE"],
        &["MISTRAL_API_KEY"],
    ),
    provider("groq", "/openai/v1", "https://api.groq.com/openai/v1", &["GROQ_BASE_URL"], &["GROQ_API_KEY"]),
    provider("deepseek", "", "https://api.deepseek.com", &["DEEPSEEK_BASE_URL"], &["DEEPSEEK_API_KEY"]),
    provider("xai", "/v1", "https://api.x.ai/v1", &["XAI_BASE_URL"], &["XAI_API_KEY"]),
    provider(
        "openrouter",
        "/api/v1",
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_BASE_URL"],
        &["OPENROUTER_API_KEY"],
    ),
    ProviderRoute {
        missing: &OLLAMA,
        ..provider(
            "ollama",
            "",
            "http://localhost:11434",
            &["OLLAMA_API_BASE_URL", "OLLAMA_BASE_URL", "OLLAMA_API_BASE", "OLLAMA_HOST"],
            &[],
        )
    },
    provider("voyage", "/v1", "https://api.voyageai.com/v1", &["VOYAGE_BASE_URL"], &["VOYAGE_API_KEY"]),
    ProviderRoute {
        name: "azure",
        base_path: "",
        own: None,
        variables: &[],
        if_set: &["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL", "AZURE_ENDPOINT", "AZURE_API_BASE"],
        keys: &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
        missing: &[],
    },
];

impl ProviderRoute {
    /// The provider with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    /// All variables, with whether they are set even if they were not before.
    pub fn all_variables(&self) -> impl Iterator<Item = (&'static str, bool)> + '_ {
        let always = self.variables.iter().map(|name| (*name, true));
        always.chain(self.if_set.iter().map(|name| (*name, false)))
    }

    /// The path of a base URL below the gateway. Without a path that clients expect, it ends in a slash: otherwise clients that resolve
    /// paths as links are resolved would replace the provider's name.
    pub fn path(&self) -> String {
        let end = if self.base_path.is_empty() { "/" } else { self.base_path };
        format!("{}{end}", self.name)
    }

    /// A path as it is below the provider's own base URL: some clients expect more of the path there, some less.
    pub fn path_below_own<'a>(&self, rest: &'a str) -> Cow<'a, str> {
        let ends = self.base_path.match_indices('/').map(|(at, _)| &self.base_path[at..]);
        if let Some(below) = ends.filter_map(|end| below(rest, end)).find(|below| !below.is_empty()) {
            return below.into();
        }
        match self.missing.iter().find(|(begin, _)| below(rest, begin).is_some()) {
            Some((_, missing)) => format!("{missing}{rest}").into(),
            None => rest.into(),
        }
    }
}

/// Where a request goes: a provider, or another server by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The provider's name, or the host.
    pub provider: String,
    /// The path below the base URL, with its leading slash and its query.
    pub rest: String,
    /// The base URL, if the request names it. It may have a user and a password.
    pub base: Option<String>,
}

/// The beginnings of paths below `/v1` that clients append without a slash.
const ENDPOINTS: [&str; 10] = [
    "audio/",
    "batches",
    "chat/",
    "completions",
    "embeddings",
    "files",
    "images/",
    "models",
    "moderations",
    "responses",
];
/// The first part of the path of a server that is reached by its address.
const BY_ADDRESS: &str = "to";

impl Destination {
    /// Parses the path after the token: `openai/v1/chat/completions` or `to/https/host:8080/v1/chat/completions`.
    pub fn parse(path: &str) -> Option<Self> {
        let path = without_empty_segments(path);
        let path = &*path;
        let (first, rest) = split(path);
        if first == BY_ADDRESS {
            let (scheme, rest) = split(rest);
            let (host, rest) = split(rest);
            if !matches!(scheme, "http" | "https") || host.is_empty() {
                return None;
            }
            let (host, appended) = host.split_at(host.len() - appended_to_port(host));
            return Some(Self {
                provider: without_user(host).to_owned(),
                rest: if appended.is_empty() {
                    with_slash(rest)
                } else {
                    format!("/{appended}{}", with_slash(rest))
                },
                base: Some(format!("{scheme}://{host}")),
            });
        }
        let is_first = |provider: &&ProviderRoute| first.starts_with(provider.name);
        let provider = ProviderRoute::named(first).or_else(|| PROVIDERS.iter().find(is_first))?;
        // Without a slash between the two, the path is appended to the name.
        let rest = with_slash(path[provider.name.len()..].trim_start_matches('/'));
        let below = below(&rest, provider.base_path).map(Cow::Borrowed).or_else(|| {
            let appended = rest.strip_prefix(provider.base_path)?;
            ENDPOINTS.iter().any(|begin| appended.starts_with(begin)).then(|| format!("/{appended}").into())
        });
        let rest = below.unwrap_or_else(|| rest.as_str().into()).into_owned();
        Some(Self { provider: provider.name.to_owned(), rest, base: None })
    }

    /// The path of a base URL below the gateway. It ends in a slash, so that every way to append a path to it works.
    pub fn path_for(base_url: &str) -> Option<String> {
        let (scheme, rest) = base_url.split_once("://")?;
        let end = if rest.contains('?') { "" } else { "/" };
        Some(format!("{BY_ADDRESS}/{scheme}/{}{end}", rest.trim_end_matches('/')))
    }

    /// The path by which requests are compared and recorded, without secrets.
    pub fn recorded_path(&self) -> String {
        let (path, query) = self.rest.split_once('?').unwrap_or((&self.rest, ""));
        let mut kept: Vec<_> =
            query.split('&').filter(|pair| !pair.is_empty() && !is_secret_pair(pair)).collect();
        kept.sort_unstable();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        without_secrets(&format!("{}{path}{query}", self.provider)).into_owned()
    }
}

/// A host without the user and the password before it.
fn without_user(host: &str) -> &str {
    // Some clients encode the character.
    let ends = ["@", "%40"].map(|mark| host.rfind(mark).map_or(0, |at| at + mark.len()));
    &host[ends[0].max(ends[1])..]
}

/// Whether a pair of a query holds a key or a signature.
fn is_secret_pair(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let secret = ["key", "api_key", "api-key", "apikey", "access_token", "token", "sig", "code"];
    secret.contains(&&*lower) || lower.ends_with("signature") || is_secret(name)
}

/// Clients join base URLs and paths with one slash too many.
fn without_empty_segments(path: &str) -> Cow<'_, str> {
    let (before, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    if !before.contains("//") {
        return path.into();
    }
    let segments: Vec<_> = before.split('/').filter(|segment| !segment.is_empty()).collect();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", segments.join("/")).into()
}

/// What is left of a path below its beginning; `None` if it has another one.
fn below<'a>(path: &'a str, beginning: &str) -> Option<&'a str> {
    path.strip_prefix(beginning).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// The length of a path that a client has appended to the port of a host without a slash, as in `localhost:11434api`.
fn appended_to_port(host: &str) -> usize {
    let Some((_, port)) = host.rsplit_once(':') else { return 0 };
    let rest = port.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_path = rest.len() < port.len() && rest.starts_with(|first: char| first.is_ascii_alphabetic());
    // A password may look like this, too.
    if is_path && !rest.contains(['@', '%']) { rest.len() } else { 0 }
}

fn split(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, ""))
}

fn with_slash(rest: &str) -> String {
    if rest.is_empty() || rest.starts_with('?') { rest.to_owned() } else { format!("/{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(path: &str) -> (String, Option<String>) {
        let destination = Destination::parse(path).unwrap();
        (destination.recorded_path(), destination.base)
    }

    #[test]
    fn a_path_names_its_provider_or_its_server() {
        for (path, recorded) in [
            ("openai/v1/chat/completions", "openai/chat/completions"),
            ("openai/v1", "openai"),
            ("openai/v1//chat/completions?a=//", "openai/chat/completions?a=//"),
            ("openai/v1x/files", "openai/v1x/files"),
            ("anthropic/v1/messages?beta=true", "anthropic/v1/messages?beta=true"),
            (
                "gemini/v1beta/models/g:generateContent?alt=sse&key=abc",
                "gemini/v1beta/models/g:generateContent?alt=sse",
            ),
            (
                "azure/openai/deployments/d/chat/completions?b=2&a=1",
                "azure/openai/deployments/d/chat/completions?a=1&b=2",
            ),
        ] {
            assert_eq!(parsed(path), (recorded.to_owned(), None));
        }
        let (recorded, base) = parsed("to/http/vllm:8000/v1/chat/completions");
        assert_eq!(
            (recorded.as_str(), base.as_deref()),
            ("vllm:8000/v1/chat/completions", Some("http://vllm:8000"))
        );
        for path in ["", "unknown/v1", "to/ftp/host/x", "to/http"] {
            assert_eq!(Destination::parse(path), None, "{path}");
        }
    }

    #[test]
    fn paths_are_appended_in_any_way() {
        let base = reqwest::Url::parse("http://gateway/token/").unwrap();
        let urls = ["http://vllm:8000", "http://vllm:8000/", "https://host.test/v1"];
        let bases = urls.map(|url| Destination::path_for(url).unwrap());
        assert_eq!(bases, ["to/http/vllm:8000/", "to/http/vllm:8000/", "to/https/host.test/v1/"]);
        let providers =
            ["ollama", "anthropic", "openai"].map(|name| ProviderRoute::named(name).unwrap().path());
        assert_eq!(providers, ["ollama/", "anthropic/", "openai/v1"]);
        for (path, recorded) in bases.iter().chain(&providers).zip([
            "vllm:8000/chat/completions",
            "vllm:8000/chat/completions",
            "host.test/v1/chat/completions",
            "ollama/chat/completions",
            "anthropic/chat/completions",
            "openai/chat/completions",
        ]) {
            let joined = base.join(path).unwrap().join("chat/completions").unwrap();
            let joined = joined.path().trim_start_matches("/token/").to_owned();
            let without_slash = format!("{}chat/completions", path.trim_end_matches('/'));
            let appended = [format!("{path}/chat/completions"), format!("{path}chat/completions"), joined];
            for appended in appended {
                assert_eq!(parsed(&appended).0, recorded, "{appended}");
            }
            if !path.contains("host.test") {
                assert_eq!(parsed(&without_slash).0, recorded, "{without_slash}");
            }
        }
        let password = Destination::parse("to/http/ann:5ecret@vllm/v1").unwrap();
        assert_eq!(password.base.as_deref(), Some("http://ann:5ecret@vllm"));
    }

    #[test]
    fn own_base_urls_get_the_paths_they_expect() {
        for (name, rest, expected) in [
            ("openai", "/chat/completions", "/chat/completions"),
            ("openai", "/v1/chat/completions", "/chat/completions"),
            ("groq", "/v1/chat/completions", "/chat/completions"),
            ("groq", "/openai/v1/models?a=1", "/models?a=1"),
            ("anthropic", "/messages", "/v1/messages"),
            ("anthropic", "/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("gemini", "/models/g:generateContent", "/v1beta/models/g:generateContent"),
            ("gemini", "/v1beta/models/g:generateContent", "/v1beta/models/g:generateContent"),
            ("gemini", "/chat/completions", "/v1beta/openai/chat/completions"),
            ("ollama", "/api/chat", "/api/chat"),
            ("ollama", "/chat", "/api/chat"),
            ("ollama", "/chat/completions", "/v1/chat/completions"),
            ("deepseek", "/v1/chat/completions", "/v1/chat/completions"),
        ] {
            assert_eq!(ProviderRoute::named(name).unwrap().path_below_own(rest), expected, "{name}{rest}");
        }
    }

    #[test]
    fn a_recorded_path_has_no_secrets() {
        for (path, recorded) in [
            ("to/https/ann:pa55w0rd@proxy:8080/v1/x", "proxy:8080/v1/x"),
            ("to/https/ann%3Apa55w0rd%40proxy/v1/x", "proxy/v1/x"),
            (
                "to/https/api.telegram.test/bot123456789:AAH8kq2Xw7Zt1Vb5Nc9Rj3Hf6Lp0Gu_YeQs/getMe",
                "api.telegram.test/bot[redacted]/getMe",
            ),
            ("to/https/store/x?X-Amz-Signature=0a1b2c&x-goog-signature=3d4e&a=1", "store/x?a=1"),
        ] {
            assert_eq!(parsed(path).0, recorded);
        }
        let base = Destination::parse("to/https/ann:pa55w0rd@proxy/v1/x").unwrap().base;
        assert_eq!(base.as_deref(), Some("https://ann:pa55w0rd@proxy"));
    }
}
