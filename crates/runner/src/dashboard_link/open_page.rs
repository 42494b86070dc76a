//! Opens a page of the dashboard in the browser, with the write token.
//!
//! Other users of the machine can read the command line of the browser. It therefore gets a file that only this user can read, which
//! redirects to the page with the token.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use cobalt::command::config::Config;
use quick_xml::escape::escape;
use url::Url;

use crate::atomic_file::write_private;
use crate::browser;

/// Cargo's build folder: ignored by git, like the folder of reports, and not hidden from sandboxed browsers.
const BUILD_FOLDER: &str = "target";
const FILE_NAME: &str = "cobalt-dashboard.html";
/// How long the file stays: a browser may have to start first.
const FILE_LIFETIME: Duration = Duration::from_secs(60);

/// A page of a dashboard.
#[derive(Clone, Debug)]
pub struct DashboardLink {
    /// Without a trailing slash.
    pub url: String,
    /// The write token, if the page may have it.
    pub token: Option<String>,
}

impl DashboardLink {
    /// The link to a path, with the token. The fragment is never sent to a server.
    pub fn to(&self, path: &str) -> String {
        match &self.token {
            Some(token) => format!("{}{path}#token={token}", self.url),
            None => format!("{}{path}", self.url),
        }
    }

    /// The base of the link as it is printed.
    pub fn printed(&self) -> String {
        if self.token.is_some() { self.to("/") } else { self.url.clone() }
    }

    /// Opens a path in the browser. Without a file to redirect from, it opens without the token: read-only.
    ///
    /// # Errors
    ///
    /// No browser can be started.
    pub fn open(&self, settings: &Config, path: &str) -> Result<(), String> {
        let redirect = self.token.as_ref().and_then(|_| self.write_redirect(settings, path));
        match redirect {
            Some((file, url)) => {
                let opened = browser::open(url.as_str());
                thread::spawn(move || {
                    thread::sleep(FILE_LIFETIME);
                    let _ = fs::remove_file(file);
                });
                opened
            }
            None => browser::open(&format!("{}{path}", self.url)),
        }
    }

    /// Writes the file, and returns it with its URL.
    fn write_redirect(&self, settings: &Config, path: &str) -> Option<(PathBuf, Url)> {
        // A browser on the other side of the Windows Subsystem for Linux cannot open the file.
        if std::env::var_os("WSL_DISTRO_NAME").is_some() {
            return None;
        }
        let file = redirect_file(settings);
        settings.layout().create_folder(file.parent()?).ok()?;
        write_private(&file, &self.redirect_page(path)).ok()?;
        let url = Url::from_file_path(std::path::absolute(&file).ok()?).ok()?;
        Some((file, url))
    }

    fn redirect_page(&self, path: &str) -> String {
        let link = self.to(path);
        let link = escape(&link);
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>Cobalt</title></head><body><a href=\"{link}\">\
             Open the dashboard</a></body></html>"
        )
    }
}

fn redirect_file(settings: &Config) -> PathBuf {
    let build = settings.workspace_root().join(BUILD_FOLDER);
    match build.is_dir() {
        true => build.join(FILE_NAME),
        false => settings.layout().reports().join(FILE_NAME),
    }
}

/// Removes the file, which leads nowhere once its server has ended.
pub fn remove_redirect(settings: &Config) {
    let _ = fs::remove_file(redirect_file(settings));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leads_to_the_link_with_the_token_in_its_fragment() {
        let link = DashboardLink { url: "http://127.0.0.1:4000".to_owned(), token: Some("abc".to_owned()) };
        assert_eq!(link.printed(), "http://127.0.0.1:4000/#token=abc");
        let page = link.redirect_page("/runs/1?a=b&c=\"d\"");
        let expected = "content=\"0;url=http://127.0.0.1:4000/runs/1?a=b&amp;c=&quot;d&quot;#token=abc\"";
        assert!(page.contains(expected), "{page}");
        let plain = DashboardLink { token: None, ..link };
        assert_eq!(
            (plain.printed(), plain.to("/x")),
            ("http://127.0.0.1:4000".to_owned(), "http://127.0.0.1:4000/x".to_owned())
        );
    }
}
