//! The running server of a project: advertised in a file, where the project's other commands find it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cobalt::command::config::Config;
use cobalt_core::hash::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::runtime::Builder;
use url::{Host, Url};

use super::DashboardLink;
use crate::atomic_file::write_private;
use crate::http_client;

/// The timeout of a health check.
const HEALTH_TIMEOUT: Duration = Duration::from_millis(500);

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct ServerEntry {
    /// The server's URL, without a path.
    url: String,
    /// The server's process.
    pid: u32,
    /// The write token, for the links of the project's commands. Only this user can read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// Advertises the running server in a file until dropped.
#[derive(Debug)]
pub struct Advertisement {
    path: PathBuf,
    text: String,
}

impl Advertisement {
    /// Advertises this process at the URL of a link.
    pub fn publish(settings: &Config, link: DashboardLink) -> io::Result<Self> {
        let layout = settings.layout();
        let path = layout.server_file();
        if let Some(folder) = path.parent() {
            layout.create_folder(folder)?;
        }
        let DashboardLink { url, token } = link;
        let text = serde_json::to_string(&ServerEntry { url, pid: std::process::id(), token })?;
        write_private(&path, &text)?;
        Ok(Self { path, text })
    }
}

impl Drop for Advertisement {
    fn drop(&mut self) {
        // Another server may have replaced the file since.
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The link to the project's server, if it is running and accepts any local client.
pub fn find_running(settings: &Config) -> Option<DashboardLink> {
    let link = advertised(settings)?;
    (is_loopback_url(&link.url) && is_own_server(settings, &link.url)).then_some(link)
}

/// The link in the file.
fn advertised(settings: &Config) -> Option<DashboardLink> {
    let text = fs::read_to_string(settings.layout().server_file()).ok()?;
    let ServerEntry { url, token, .. } = serde_json::from_str(&text).ok()?;
    // The file may come from anywhere, and the token is printed and put into a page.
    let token = token.filter(|token| token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    Some(DashboardLink { url, token })
}

/// The link to the project's server at a URL, if it is running.
pub fn find_running_at(settings: &Config, url: &str) -> Option<DashboardLink> {
    is_own_server(settings, url).then(|| {
        let token = advertised(settings).filter(|link| link.url == url).and_then(|link| link.token);
        DashboardLink { url: url.to_owned(), token }
    })
}

/// Whether a URL is a bare loopback address: the file may come from anywhere.
fn is_loopback_url(url: &str) -> bool {
    let Ok(parsed) = Url::parse(url) else { return false };
    let is_near = match parsed.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        _ => false,
    };
    is_near && parsed.origin().ascii_serialization() == url
}

/// Whether the server at a URL belongs to this project.
fn is_own_server(settings: &Config, url: &str) -> bool {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return false };
    runtime.block_on(fetch_project_hash(url)).is_some_and(|hash| hash == project_hash(settings))
}

/// The hash of a server's project.
async fn fetch_project_hash(url: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Health {
        project: String,
    }

    // A proxy from the environment cannot reach a local server.
    let client = http_client::client().no_proxy().timeout(HEALTH_TIMEOUT).build().ok()?;
    let text = client.get(format!("{url}/api/health")).send().await.ok()?.text().await.ok()?;
    serde_json::from_str(&text).ok().map(|Health { project }| project)
}

/// The name of the project's folder.
pub fn project_name(settings: &Config) -> String {
    let name = settings.workspace_root().file_name();
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A hash of the canonical paths of the project and its results.
pub fn project_hash(settings: &Config) -> String {
    let mut hash = Sha256::new();
    for path in [settings.workspace_root(), settings.layout().results()] {
        hash.update(canonicalize_existing(path).as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// A path with symlinks resolved, as far as it exists.
fn canonicalize_existing(path: &Path) -> String {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let settled = there.and_then(|(above, settled)| Some(settled.join(path.strip_prefix(above).ok()?)));
    settled.unwrap_or_else(|| path.to_owned()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::is_loopback_url;

    #[test]
    fn only_bare_addresses_of_this_machine_are_asked_and_opened() {
        assert!(is_loopback_url("http://127.0.0.1:4000") && is_loopback_url("http://[::1]:4000"));
        for other in [
            "http://192.0.2.1:4000",
            "http://localhost.example:4000",
            "http://127.0.0.1:4000/path",
            "http://127.0.0.1:4000\u{1b}[2J",
            "http://user@127.0.0.1:4000",
            "file:///etc/passwd",
            "",
        ] {
            assert!(!is_loopback_url(other), "{other}");
        }
    }
}
