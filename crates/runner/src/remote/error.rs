//! Errors of the remote store. Each names the remote, what failed, and what to do.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use cobalt_core::error_chain::format_with_causes;
use cobalt_core::wording::count;
use object_store::Error as StoreError;
use object_store::client::HttpError;

use super::layout;
use super::location::{Location, Platform};
use crate::error::{CommandError, ErrorKind};
use crate::terminal::one_line;

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error(
        "no remote store is configured; set `remote` in `[storage]` of cobalt.toml, or COBALT_REMOTE, to a URL such as \
         `s3://bucket/prefix`, or to a folder"
    )]
    NotConfigured,

    #[error("the remote store `{url}` cannot be used: {problem}")]
    Invalid { url: String, problem: String },

    #[error(
        "the endpoint `{endpoint}` of the remote store `{url}` is without TLS; use `https://`, or set `storage.allow-http = true`"
    )]
    InsecureEndpoint { url: String, endpoint: String },

    #[error("failed to open the remote store `{}`: {source}; create the folder or mount the file system, and make it writable", .path.display())]
    Folder { path: PathBuf, source: io::Error },

    #[error("failed to {action} in the remote store `{url}`: {problem}; {advice}")]
    Request { url: String, action: String, problem: String, advice: String, kind: Problem },

    #[error(
        "the remote store `{url}` has format {found}, and this version of Cobalt reads format {known}; update Cobalt"
    )]
    Format { url: String, found: u64, known: u32 },

    #[error(
        "the remote store `{url}` had runs, and is empty now; mount the file system or correct `storage.remote`, or, if it was emptied on \
         purpose, delete {copy}"
    )]
    Lost { url: String, copy: String },

    #[error(
        "there is no remote store at `{url}` any more; mount its file system, or correct `storage.remote`"
    )]
    NoStore { url: String },

    #[error("`{object}` in the remote store `{url}` is damaged: {problem}; {}", layout::repair_advice(.object))]
    Damaged { url: String, object: String, problem: String },

    #[error(
        "the list of runs in the remote store `{url}` is incomplete because of {}: `{}`; repair it with \
         `cargo cobalt push --rebuild-index`",
        count(.objects.len(), "damaged object"),
        .objects.join("`, `")
    )]
    Incomplete { url: String, objects: Vec<String> },

    #[error(
        "run `{run}` is no longer in the remote store `{url}`: `{object}` is missing; it was deleted, or its upload has not finished"
    )]
    Gone { url: String, run: String, object: String },

    #[error("failed to {action} `{}`: {source}", .path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    #[error(
        "failed to read the local copy of the remote store's index: {0}; delete it: beside `history.db`, its name ends with `-remote`"
    )]
    LocalIndex(#[from] rusqlite::Error),

    #[error("failed to start the connection to the remote store: {0}")]
    Runtime(io::Error),

    #[error("{0}")]
    NoMatch(String),
}

impl CommandError for RemoteError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoMatch(_) => ErrorKind::NothingMatched,
            _ => ErrorKind::Setup,
        }
    }
}

/// What a request does with an object, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    List,
    Read,
    Write,
    Delete,
}

impl Access {
    fn verb(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }

    /// The permission that a platform wants for it.
    fn permission(self, platform: Platform) -> &'static str {
        match (platform, self) {
            (Platform::S3, Self::List) => "`s3:ListBucket`",
            (Platform::S3, Self::Read) => "`s3:GetObject`",
            (Platform::S3, Self::Write) => "`s3:PutObject`",
            (Platform::S3, Self::Delete) => "`s3:DeleteObject`",
            (Platform::GoogleCloud, Self::List) => "`storage.objects.list`",
            (Platform::GoogleCloud, Self::Read) => "`storage.objects.get`",
            (Platform::GoogleCloud, Self::Write) => "`storage.objects.create` and `storage.objects.delete`",
            (Platform::GoogleCloud, Self::Delete) => "`storage.objects.delete`",
            (_, Self::List | Self::Read) => "the role `Storage Blob Data Reader`",
            (_, Self::Write | Self::Delete) => "the role `Storage Blob Data Contributor`",
        }
    }
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The object does not exist.
    Missing,
    /// An object of this name exists.
    Exists,
    /// Anything that a repetition does not change: credentials, permissions, a missing bucket.
    Refused,
    /// The connection failed.
    Connection,
    Other,
}

impl RemoteError {
    pub fn invalid(url: &str, error: &(dyn StdError + 'static)) -> Self {
        Self::Invalid { url: url.to_owned(), problem: one_line(&format_with_causes(error)) }
    }

    /// The error of a request for an object or a folder.
    pub fn request(location: &Location, access: Access, object: &str, error: &StoreError) -> Self {
        let (kind, problem, advice) = explain(location, access, error);
        let action = format!("{} `{object}`", access.verb());
        Self::Request { url: location.url.clone(), action, problem, advice, kind }
    }

    /// Whether other requests to the store will fail, too.
    pub fn is_of_the_store(&self) -> bool {
        matches!(self.problem(), Some(Problem::Refused | Problem::Connection))
    }

    pub fn problem(&self) -> Option<Problem> {
        match self {
            Self::Request { kind, .. } => Some(*kind),
            _ => None,
        }
    }
}

/// Whether a repetition may help: the connection failed, whatever was sent before.
pub fn is_transient(error: &StoreError) -> bool {
    let mut source: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = source {
        if error.is::<HttpError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// The kind of a problem, the problem and what to do about it.
fn explain(location: &Location, access: Access, error: &StoreError) -> (Problem, String, String) {
    let text = format_with_causes(error);
    let says = |codes: &[&str]| codes.iter().any(|code| text.contains(code));
    let refused = |problem: String, advice: &str| (Problem::Refused, problem, advice.to_owned());
    let Location { platform, container, .. } = location;
    let variables = credential_variables(*platform);
    if says(&["RequestTimeTooSkewed", "RequestExpired"]) {
        let advice = "set the clock, for example with `timedatectl set-ntp true`, and try again";
        return refused("this machine's clock differs too much from the server's".to_owned(), advice);
    }
    if says(&["NoSuchBucket", "ContainerNotFound", "bucket does not exist"]) {
        let advice = "create it, or correct `storage.remote`";
        return refused(format!("there is no bucket or container `{container}`"), advice);
    }
    if says(&["ExpiredToken", "TokenRefreshRequired"]) {
        return refused("the credentials have expired".to_owned(), &format!("get new ones: {variables}"));
    }
    if says(&["InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthenticationFailed"]) {
        return refused(
            "the server does not accept the credentials".to_owned(),
            &format!("check {variables}"),
        );
    }
    if says(&["AuthorizationHeaderMalformed", "PermanentRedirect", "incorrectly configured region"]) {
        let advice = "set `storage.region` to the region of the bucket, or AWS_REGION";
        return refused("the bucket is in another region".to_owned(), advice);
    }
    // The services that machines of the platforms have.
    if says(&["169.254.169.254", "metadata.google.internal", "169.254.170.2"]) {
        return refused("no credentials were found".to_owned(), &format!("set {variables}"));
    }
    match error {
        StoreError::NotFound { .. } => {
            let advice = "it may have been removed; try again".to_owned();
            (Problem::Missing, "there is no such object".to_owned(), advice)
        }
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => {
            (Problem::Exists, "the object exists already".to_owned(), "nothing is overwritten".to_owned())
        }
        StoreError::Unauthenticated { .. } => {
            refused("the server does not accept the credentials".to_owned(), &format!("check {variables}"))
        }
        _ if *platform == Platform::Folder => explain_folder(error),
        _ if matches!(error, StoreError::PermissionDenied { .. }) || says(&["AccessDenied"]) => {
            let advice = format!(
                "allow them {} on `{container}`, or use others: {variables}",
                access.permission(*platform)
            );
            refused(format!("the credentials lack the permission to {} objects", access.verb()), &advice)
        }
        _ if is_transient(error) => {
            let advice = "check the network and `storage.endpoint`, and try again".to_owned();
            (Problem::Connection, format!("no connection: {}", last_cause(error)), advice)
        }
        _ => (Problem::Other, shorten(&server_message(&text)), "try again".to_owned()),
    }
}

/// The same for a folder, by the error of the operating system.
fn explain_folder(error: &StoreError) -> (Problem, String, String) {
    let mut source: Option<&(dyn StdError + 'static)> = Some(error);
    let mut kind = None;
    while let Some(error) = source {
        kind = error.downcast_ref::<io::Error>().map(io::Error::kind).or(kind);
        source = error.source();
    }
    let (problem, text, advice) = match kind {
        Some(io::ErrorKind::PermissionDenied) => {
            (Problem::Refused, "permission denied".to_owned(), "make the folder readable and writable")
        }
        Some(io::ErrorKind::ReadOnlyFilesystem) => {
            (Problem::Refused, "the file system is read-only".to_owned(), "mount it for writing")
        }
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            (Problem::Refused, "the file system is full".to_owned(), "free some space, or clean the store")
        }
        _ => (Problem::Other, last_cause(error), "check the drive, and repeat the command"),
    };
    (problem, text, advice.to_owned())
}

fn credential_variables(platform: Platform) -> &'static str {
    match platform {
        Platform::S3 => {
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN for temporary credentials"
        }
        Platform::GoogleCloud => "GOOGLE_APPLICATION_CREDENTIALS",
        Platform::Azure => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        Platform::Folder => "the permissions of the folder",
    }
}

/// The innermost cause of an error, on one line.
fn last_cause(error: &StoreError) -> String {
    let mut cause: &dyn StdError = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    shorten(&cause.to_string())
}

/// The message in an XML response, or else the whole text.
fn server_message(text: &str) -> String {
    let message = text.split_once("<Message>").and_then(|(_, rest)| rest.split_once("</Message>"));
    message.map_or(text, |(message, _)| message).to_owned()
}

fn shorten(text: &str) -> String {
    const LONGEST: usize = 300;
    let text = one_line(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
