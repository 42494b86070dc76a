//! A server that listens, from its first word to its end.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use cobalt::config::Config;

use super::announce::{self, Asked};
use super::guard::{Guard, Token};
use super::running::Advertised;
use super::server;
use super::store::Store;
use crate::error::Error;

/// A server that listens, and answers once it runs.
pub(crate) struct Dashboard {
    listener: TcpListener,
    address: SocketAddr,
    store: Arc<Store>,
    guard: Guard,
    asked: Asked,
    settings: Config,
}

impl Dashboard {
    /// A server of the project's runs. Whoever asks needs a token where one is given, or where other machines can ask.
    pub(super) fn of(settings: &Config, listener: TcpListener, given: Option<&str>) -> Result<Self, Error> {
        let address = listener.local_addr().map_err(Error::Server)?;
        let token = |text: &str| Some(Token::of(text, address.port()));
        let (token, asked) = match given {
            Some(text) => (token(text), Asked::GivenToken),
            None if address.ip().is_loopback() => (None, Asked::Nothing),
            None => {
                let text = Token::random()?;
                (token(&text), Asked::Token(text))
            }
        };
        let store = Arc::new(Store::open(settings)?);
        let guard = Guard::of(address, token);
        Ok(Self { listener, address, store, guard, asked, settings: settings.clone() })
    }

    /// Its address, where a browser needs no more than that. A token is never handed to a browser: other users of this machine
    /// can read what programs are started with.
    pub(crate) fn url(&self) -> Option<String> {
        matches!(self.asked, Asked::Nothing).then(|| announce::url(self.address))
    }

    /// Says where it is to be found.
    pub(crate) fn announce(&self) -> Result<(), Error> {
        let runs = self.store.count()?;
        eprintln!("{}", announce::line(&self.settings, runs, self.address, &self.asked));
        Ok(())
    }

    /// Answers until this program is asked to end.
    pub(crate) fn run(self) -> Result<(), Error> {
        let advertised = self.url().map(|url| Advertised::at(&self.settings, &url));
        if let Some(Err(error)) = &advertised {
            eprintln!("warning: `cargo cobalt run` will not find this dashboard: {error}");
        }
        server::run(self.listener, self.store, self.guard)
    }
}
