//! Webhooks: others are told of the end of a run, by requests that are signed, and that never fail it.

mod body;
mod ci;
mod delivery;
mod send;

use cobalt::config::{Webhook, WebhookOn};

use self::body::Body;
use self::ci::Ci;
use self::delivery::Delivery;
use crate::error::Error;
use crate::interrupt;
use crate::results::{Output, Reporter, Results};

/// Tells those webhooks of the end of a run that are to hear of it, side by side. What fails is a warning, and no more.
pub(crate) struct Webhooks(pub(crate) Vec<Webhook>);

impl Reporter for Webhooks {
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        // Who stops a run, or only lists its cases, has nobody to be told.
        if !results.is_empty() && !interrupt::was_heard() {
            tell(&self.0, results, output);
        }
        Ok(())
    }
}

fn tell(webhooks: &[Webhook], results: &Results, output: &dyn Output) {
    let wanted = webhooks.iter().filter(|webhook| is_wanted(webhook.on(), results));
    let (mut ready, mut problems) = (Vec::new(), Vec::new());
    let ci = Ci::of(|name| std::env::var(name).ok());
    for webhook in wanted {
        match delivery(webhook, results, ci.as_ref()) {
            Ok(delivery) => ready.push(delivery),
            Err(problem) => problems.push(format!("a webhook was not told of the run: {problem}")),
        }
    }
    problems.extend(send::all(ready));
    problems.iter().for_each(|problem| output.warn(problem));
}

fn is_wanted(on: WebhookOn, results: &Results) -> bool {
    match on {
        WebhookOn::Always => true,
        WebhookOn::Failed => results.failed(),
        WebhookOn::Regressed => results.experiments.iter().any(|finished| body::is_worse(&finished.report)),
    }
}

fn delivery(webhook: &Webhook, results: &Results, ci: Option<&Ci>) -> Result<Delivery, String> {
    let url = webhook.url().map_err(|unset| unset.to_string())?;
    let secret = webhook.secret().map_err(|unset| unset.to_string())?;
    let body = Body::of(results, ci);
    Delivery::new(url, secret, &body, webhook.timeout(), webhook.retries())
}
