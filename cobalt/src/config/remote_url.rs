//! What the settings of the remote store contain: URLs, and when runs are pushed.

use std::path::Path;
use std::str::FromStr;

use serde::Serialize;

use crate::settings::{deserialize_from_str, host, is_http_url, named_choices};

/// The variables with credentials, for messages.
pub const CREDENTIAL_HINT: &str = "credentials are not read from files; set the platform's variables: AWS_ACCESS_KEY_ID and \
     AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY";

/// The URL of a remote store: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, or a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoteUrl(String);

/// The schemes of object storage.
const OBJECT_STORAGE: [&str; 3] = ["s3", "gs", "az"];

/// A text that starts with one of these and a colon is a mistyped URL rather than the name of a folder.
const NOT_A_FOLDER: [&str; 6] = ["s3", "gs", "az", "file", "http", "https"];

impl FromStr for RemoteUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some((scheme, rest)) = text.split_once("://") else {
            let is_mistyped = |(scheme, _): (&str, &str)| NOT_A_FOLDER.contains(&&*scheme.to_lowercase());
            return match text.is_empty() || text.split_once(':').is_some_and(is_mistyped) {
                true => Err(EXPECTED.to_owned()),
                false => Ok(Self(text.to_owned())),
            };
        };
        // These messages do not contain the URL, which may hold a key.
        if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(format!("the URL contains credentials; remove them: {CREDENTIAL_HINT}"));
        }
        if rest.contains(['?', '#']) {
            return Err(format!(
                "the URL contains parameters; remove what follows `?` or `#`: {CREDENTIAL_HINT}"
            ));
        }
        let is_folder = scheme == "file" && rest.starts_with('/') && rest.len() > 1;
        let is_bucket = OBJECT_STORAGE.contains(&scheme) && !host(rest).is_empty();
        let is_odd = rest.chars().any(|letter| letter.is_control() || (is_bucket && letter.is_whitespace()));
        match (is_folder || is_bucket) && !is_odd {
            true => Ok(Self(text.trim_end_matches('/').to_owned())),
            false => Err(EXPECTED.to_owned()),
        }
    }
}

const EXPECTED: &str = "expected `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, `file:///folder` or a folder";

impl RemoteUrl {
    /// The URL, or the absolute path of a folder.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A folder's path starts at `folder`; URLs are unchanged.
    pub fn below(self, folder: &Path) -> Self {
        match self.0.contains("://") {
            true => self,
            false => Self(folder.join(self.0).display().to_string()),
        }
    }
}

deserialize_from_str! {
    RemoteUrl: "a URL such as \"s3://bucket/prefix\", or a folder in quotes",
    |text| text.parse()
}

/// The URL of a server that speaks a platform's protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointUrl(pub String);

deserialize_from_str! {
    EndpointUrl: "a URL in quotes",
    |text| {
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        if authority.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(format!("the URL contains credentials; remove them: {CREDENTIAL_HINT}"));
        }
        match is_http_url(text) && !text.contains(['?', '#']) {
            true => Ok(Self(text.trim_end_matches('/').to_owned())),
            false => Err("expected an HTTP URL such as \"https://minio.example.com:9000\"".to_owned()),
        }
    }
}

#[cfg(feature = "schema")]
crate::settings::inline_schemas! {
    RemoteUrl: {
        "type": "string",
        "pattern": r"\S",
        "examples": ["s3://bucket/cobalt", "gs://bucket/cobalt", "az://container/cobalt", "file:///mnt/share/cobalt"],
    },
    EndpointUrl: { "type": "string", "pattern": "^https?://.+", "examples": ["https://minio.example.com:9000"] },
}

/// When finished runs are pushed to the remote store without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PushMode {
    /// Only with `--push`.
    #[default]
    Never,
    /// Under `--ci`.
    Ci,
    /// After every run.
    Always,
}

named_choices! {
    /// A mode by its name.
    PushName(PushMode), "mode", "modes":
        "never" => Never, "ci" => Ci, "always" => Always;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::assert_round_trip;

    #[test]
    fn a_bucket_or_a_folder_is_a_remote() {
        for (text, url) in [
            ("s3://bucket/team/evals/", "s3://bucket/team/evals"),
            ("gs://bucket", "gs://bucket"),
            ("az://container/a", "az://container/a"),
            ("file:///mnt/share", "file:///mnt/share"),
            ("../shared", "../shared"),
        ] {
            assert_eq!(text.parse::<RemoteUrl>().unwrap().as_str(), url);
        }
        for text in [
            "",
            "s3://",
            "s3:bucket",
            "S3:/bucket/a",
            "file:/mnt",
            "http:host",
            "ftp://host/a",
            "https://bucket.s3.amazonaws.com",
            "file://host/a",
            "s3://a b",
        ] {
            assert_eq!(text.parse::<RemoteUrl>().unwrap_err(), EXPECTED, "{text}");
        }
        assert_round_trip::<PushMode>();
    }

    #[test]
    fn credentials_in_a_url_are_refused_without_repeating_them() {
        for text in ["s3://AKIA:hunter2@bucket/a", "az://c/a?sig=hunter2", "gs://b/a#hunter2"] {
            let error = text.parse::<RemoteUrl>().unwrap_err();
            assert!(error.contains("AWS_SECRET_ACCESS_KEY") && !error.contains("hunter2"), "{error}");
        }
        for text in ["http://user:hunter2@host", "http://host?key=hunter2", "host:9000"] {
            let error = EndpointUrl::read(text).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert_eq!(EndpointUrl::read("http://localhost:9000/").unwrap().0, "http://localhost:9000");
    }

    #[test]
    fn a_folder_starts_where_its_setting_is() {
        let below = |text: &str| text.parse::<RemoteUrl>().unwrap().below(Path::new("/work"));
        assert_eq!(below("shared").as_str(), "/work/shared");
        assert_eq!(below("/mnt/shared").as_str(), "/mnt/shared");
        assert_eq!(below("s3://bucket").as_str(), "s3://bucket");
    }
}
