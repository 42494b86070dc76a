//! `cargo cobalt serve`: the dashboard, and the API that it reads.
//!
//! A request passes the [`guard`] of the [`server`], then goes to the page or to the [`api`], which queries the [`store`]. A
//! [`dashboard`] starts to [`listen`], announces itself, and can be found by other commands while it is in the [registry](crate::dashboard_link).

mod api;
mod dashboard;
mod error;
mod guard;
mod job;
mod jobs;
mod limiter;
mod live;
mod server;
mod store;
mod writes;

use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags};

use crate::cli::Serve;
use crate::config::settings;
use crate::dashboard_link::DashboardLink;
use crate::error::Error;
use crate::terminal::print_json;
use crate::{browser, interrupt};
use cobalt_runner::extensions::DashboardProject;
use dashboard::Dashboard;
use dashboard::DashboardOptions;
use guard::Token;
use server::{ListenOutcome, listen};
use writes::WriteMode;

pub fn serve(arguments: &Serve, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.openapi {
        print_json(&api::description()).map_err(Error::Print)?;
        return Ok(ExitCode::SUCCESS);
    }
    let settings = settings(flags)?;
    let opens = !arguments.no_open && settings.dashboard().opens_browser();
    let opens = opens && browser::is_interactive() && !browser::is_ci(&settings);
    let port = arguments.port.or(settings.dashboard().port());
    let options = DashboardOptions {
        writes: write_mode(arguments),
        project: DashboardProject { config: flags.config.clone(), ..DashboardProject::default() },
    };
    let Some(dashboard) = start(&settings, arguments.host, port, opens.then_some("/"), options)? else {
        return Ok(ExitCode::SUCCESS);
    };
    dashboard.run()?;
    Err(Error::Interrupted)
}

fn write_mode(arguments: &Serve) -> WriteMode {
    match arguments {
        Serve { remote: Some(_), .. } => WriteMode::Remote,
        Serve { read_only: true, .. } => WriteMode::ReadOnly,
        Serve { allow_writes: true, .. } => WriteMode::Allowed,
        _ => WriteMode::Local,
    }
}

/// Serves on localhost and opens a path of the dashboard in the browser, until the program is interrupted.
pub fn serve_and_open(settings: &Config, path: &str, project: DashboardProject) -> Result<(), Error> {
    let host = Ipv4Addr::LOCALHOST.into();
    let options = DashboardOptions { project, ..DashboardOptions::default() };
    match start(settings, host, settings.dashboard().port(), Some(path), options)? {
        Some(dashboard) => dashboard.run(),
        None => Ok(()),
    }
}

/// Starts to listen, prints the URL, and opens a path in the browser if one is given; `None` if the project's dashboard is already
/// running.
fn start(
    settings: &Config,
    host: IpAddr,
    port: Option<u16>,
    opened: Option<&str>,
    options: DashboardOptions,
) -> Result<Option<Dashboard>, Error> {
    let open = |link: &DashboardLink| {
        if let Some(path) = opened {
            // If no browser opens, the user can still use the printed link.
            let _ = link.open(settings, path);
        }
    };
    interrupt::install_handler()?;
    let token = Token::from_environment(settings)?;
    // A running server without a token must not be reused if a token is required, nor one of this machine's runs for a remote store.
    let another_will_do = token.is_none() && options.writes != WriteMode::Remote;
    match listen(settings, host, port, another_will_do)? {
        ListenOutcome::AlreadyRunning(link) => {
            eprintln!("the dashboard of this project is already running: {}", link.printed());
            open(&link);
            Ok(None)
        }
        ListenOutcome::Bound(listener) => {
            let dashboard = Dashboard::new(settings, listener, token.as_deref(), options)?;
            dashboard.announce()?;
            dashboard.link().iter().for_each(open);
            Ok(Some(dashboard))
        }
    }
}
