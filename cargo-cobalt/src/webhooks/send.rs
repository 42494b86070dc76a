//! Sends requests side by side, each again after what may pass, and all within a time that nothing extends.

use std::error::Error;
use std::io;
use std::time::Duration;

use cobalt::back_off::BackOff;
use cobalt::config::Webhook;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode};
use tokio::runtime;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use super::delivery::Delivery;
use crate::{interrupt, requests};

/// How often it is looked whether time is up, or Ctrl-C was pressed.
const TICK: Duration = Duration::from_millis(50);

/// Why an attempt failed.
enum Failure {
    /// It may go better another time, after so long a wait where the server asks for one.
    Passing(String, Option<Duration>),
    /// It will not.
    Final(String),
}

/// Sends requests, and answers with what kept any from being taken. Ctrl-C ends it at once.
pub(super) fn all(deliveries: Vec<Delivery>) -> Vec<String> {
    if deliveries.is_empty() {
        return Vec::new();
    }
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![format!("no webhook was told of the run: {error}")],
    };
    let problems = runtime.block_on(side_by_side(deliveries));
    // A name that is still being looked up is not waited for.
    runtime.shutdown_background();
    problems
}

async fn side_by_side(deliveries: Vec<Delivery>) -> Vec<String> {
    let deadline = Instant::now() + Webhook::LONGEST_WAIT;
    let mut tasks = JoinSet::new();
    let mut under_way = Vec::new();
    for delivery in deliveries {
        let host = delivery.host.clone();
        under_way.push((tasks.spawn(deliver(delivery, deadline)).id(), host));
    }
    let mut problems = Vec::new();
    while !tasks.is_empty() && Instant::now() < deadline && !interrupt::was_heard() {
        let Ok(Some(ended)) = timeout(TICK, tasks.join_next_with_id()).await else { continue };
        let (id, result) = ended.unwrap_or_else(|error| (error.id(), Err(error.to_string())));
        let host = take(&mut under_way, id);
        problems.extend(result.err().map(|problem| not_told(&host, &problem)));
    }
    let why = match interrupt::was_heard() {
        true => "stopped".to_owned(),
        false => {
            let longest = humantime::format_duration(Webhook::LONGEST_WAIT);
            format!("it did not answer within the {longest} that a run waits for its webhooks")
        }
    };
    problems.extend(under_way.iter().map(|(_, host)| not_told(host, &why)));
    problems
}

/// The host of a request that is no longer under way.
fn take(under_way: &mut Vec<(Id, String)>, id: Id) -> String {
    let place = under_way.iter().position(|(other, _)| *other == id);
    place.map_or_else(String::new, |place| under_way.swap_remove(place).1)
}

fn not_told(host: &str, why: &str) -> String {
    format!("the webhook at {host} was not told of the run: {why}")
}

/// Sends a request until it is taken, or no further attempt would help.
async fn deliver(delivery: Delivery, deadline: Instant) -> Result<(), String> {
    let client = client(&delivery).map_err(|error| bottom(&error).to_string())?;
    let mut attempt = 0;
    loop {
        let (problem, asked) = match send(&client, &delivery).await {
            Ok(()) => return Ok(()),
            Err(Failure::Final(problem)) => return Err(problem),
            Err(Failure::Passing(problem, asked)) => (problem, asked),
        };
        let wait = BackOff::default().wait(attempt, asked);
        attempt += 1;
        if attempt > delivery.retries || deadline.saturating_duration_since(Instant::now()) <= wait {
            let times = if attempt == 1 { String::new() } else { format!("; tried {attempt} times") };
            return Err(format!("{problem}{times}"));
        }
        sleep(wait).await;
    }
}

/// A redirect is not followed: whom it leads to was never named, and the address may hold a secret.
fn client(delivery: &Delivery) -> reqwest::Result<Client> {
    let builder = requests::client().timeout(delivery.timeout);
    // No proxy of the environment can reach a server of this machine.
    if is_near(&delivery.url) { builder.no_proxy() } else { builder }.build()
}

fn is_near(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// Sends a request once. Of an answer only its status counts.
async fn send(client: &Client, delivery: &Delivery) -> Result<(), Failure> {
    let Delivery { url, headers, body, .. } = delivery;
    let sent = client.post(url.clone()).headers(headers.clone()).body(body.clone()).send().await;
    let response = sent.map_err(|error| broken(&error, delivery.timeout))?;
    let status = response.status();
    if status.is_success() {
        Ok(())
    } else if status.is_redirection() {
        let problem = format!("status {}: it redirects, which is not followed", status.as_u16());
        Err(Failure::Final(format!("{problem}; set the address that it leads to")))
    } else if may_pass(status) {
        Err(Failure::Passing(format!("status {}", status.as_u16()), asked_wait(&response)))
    } else {
        Err(Failure::Final(format!("status {}", status.as_u16())))
    }
}

/// Whether the server may take the same request another time.
fn may_pass(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        )
}

/// How long the server asks to wait, where it says so in seconds.
fn asked_wait(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// What a broken connection is: it may go better another time, unless TLS is at fault. The address is left out.
fn broken(error: &reqwest::Error, timeout: Duration) -> Failure {
    if error.is_timeout() {
        return Failure::Passing(format!("no answer within {}", humantime::format_duration(timeout)), None);
    }
    let bottom = bottom(error);
    match error.is_builder() || is_of_tls(bottom) {
        true => Failure::Final(bottom.to_string()),
        false => Failure::Passing(bottom.to_string(), None),
    }
}

/// Whether this is an error of TLS, or one of input and output around it.
fn is_of_tls(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_of_tls(inner))
}

/// What is at the bottom of an error, which says most, and does not repeat the address.
fn bottom<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut bottom = error;
    while let Some(below) = bottom.source() {
        bottom = below;
    }
    bottom
}
