//! The cost of a request: an estimate before it is sent, and the charge for its response.

use cobalt_core::prices::{Price, PriceTable, Tokens, is_local_server};
use serde_json::Value;

/// Bytes of a request for each of its tokens, to estimate them before they are known.
const BYTES_PER_TOKEN: usize = 4;
/// Where requests have the maximum number of output tokens.
const MAX_TOKENS: [&str; 6] = [
    "/max_completion_tokens",
    "/max_output_tokens",
    "/max_tokens",
    "/generationConfig/maxOutputTokens",
    "/inferenceConfig/maxTokens",
    "/options/num_predict",
];
/// Where requests have the number of answers.
const ANSWERS: [&str; 2] = ["/n", "/generationConfig/candidateCount"];

/// A request to a provider.
#[derive(Clone, Copy, Debug)]
pub struct PricedRequest<'a> {
    pub prices: &'a PriceTable,
    /// The provider's name, or the host.
    pub provider: &'a str,
    pub url: &'a str,
    pub model: Option<&'a str>,
    /// The number of bytes of the body.
    pub bytes: usize,
    /// The body, if it is JSON.
    pub body: Option<&'a Value>,
}

/// What is known of the cost of a request before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    pub provider: String,
    pub model: Option<String>,
    /// The cost in USD by the model's price, the request's size and the maximum number of output tokens, as far as they are known.
    pub estimate: f64,
    /// Whether it costs nothing: it asks no model, or one on this machine without a price.
    pub is_free: bool,
}

/// The price of a model on a server.
fn price(prices: &PriceTable, url: &str, model: Option<&str>) -> Price {
    let known = model.and_then(|model| prices.price(model));
    known.unwrap_or_else(|| if is_local_server(url) { Price::new(0.0, 0.0) } else { prices.highest() })
}

/// The known cost of a response in USD; `None` if the model has no price, or the tokens are unknown. A server on this machine costs
/// nothing unless its model has a price.
#[cfg(any(feature = "record", test))]
pub fn known_cost(
    prices: &PriceTable,
    url: Option<&str>,
    model: Option<&str>,
    tokens: Option<Tokens>,
) -> Option<f64> {
    match model.and_then(|model| prices.price(model)) {
        Some(price) => Some(price.cost(tokens.and_then(Tokens::if_plausible)?)),
        None => url.is_some_and(is_local_server).then_some(0.0),
    }
}

impl PricedRequest<'_> {
    pub fn quote(&self) -> Quote {
        let Self { prices, provider, url, model, bytes, body } = *self;
        let price = price(prices, url, model);
        let is_free = (model.is_none() && body.is_none()) || price == Price::new(0.0, 0.0);
        let first = |paths: &[&str]| paths.iter().find_map(|path| body?.pointer(path)?.as_u64());
        let output = first(&MAX_TOKENS).unwrap_or(0).saturating_mul(first(&ANSWERS).unwrap_or(1).max(1));
        let tokens = Tokens::new(bytes.div_ceil(BYTES_PER_TOKEN) as u64, output);
        // Without a model, it is unknown whether it asks one.
        let estimate = if model.is_none() { 0.0 } else { price.cost(tokens) };
        Quote { provider: provider.to_owned(), model: model.map(str::to_owned), estimate, is_free }
    }

    /// The charge for a successful response in USD. If the model has no price, it is the highest of all. `None` if the tokens are
    /// unknown. `answered` is the model that answered.
    pub fn charge(&self, answered: Option<&str>, tokens: Option<Tokens>) -> Option<f64> {
        let has_price = |model: &&str| self.prices.price(model).is_some();
        let model = answered.filter(has_price).or(self.model).or(answered);
        let price = price(self.prices, self.url, model);
        if price == Price::new(0.0, 0.0) || (model.is_none() && tokens.is_none()) {
            return Some(0.0);
        }
        tokens.and_then(Tokens::if_plausible).map(|tokens| price.cost(tokens))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request<'a>(
        prices: &'a PriceTable,
        url: &'a str,
        model: &'a str,
        body: &'a Value,
    ) -> PricedRequest<'a> {
        PricedRequest { prices, provider: "openai", url, model: Some(model), bytes: 4_000, body: Some(body) }
    }

    const REMOTE: &str = "https://api.openai.com/v1/chat/completions";
    const LOCAL: &str = "http://127.0.0.1:11434/v1/chat/completions";

    #[test]
    fn estimates_use_size_and_max_tokens() {
        let prices = PriceTable::default();
        let estimate = |body: Value| request(&prices, REMOTE, "gpt-4o", &body).quote().estimate;
        let input = 1_000.0 / 1e6 * 2.5;
        assert_eq!(estimate(json!({})), input);
        for body in [
            json!({ "max_tokens": 100_000 }),
            json!({ "max_completion_tokens": 50_000, "n": 2 }),
            json!({ "generationConfig": { "maxOutputTokens": 100_000 } }),
        ] {
            assert_eq!(estimate(body), input + 1.0);
        }
    }

    #[test]
    fn models_without_a_price_cost_the_most_unless_they_are_local() {
        let prices = PriceTable::default();
        let body = json!({});
        let tokens = Some(Tokens::new(1_000_000, 0));
        let charge = |url, model| request(&prices, url, model, &body).charge(Some(model), tokens);
        assert_eq!(charge(REMOTE, "gpt-4o"), Some(2.5));
        assert_eq!(charge(LOCAL, "gpt-4o"), Some(2.5));
        assert_eq!(charge(LOCAL, "ours"), Some(0.0));
        assert_eq!(charge(REMOTE, "ours"), Some(prices.highest().input));
        assert_eq!(request(&prices, REMOTE, "gpt-4o", &body).charge(None, None), None);
        let absurd = Some(Tokens::new(u64::MAX, 0));
        assert_eq!(request(&prices, REMOTE, "gpt-4o", &body).charge(None, absurd), None);
        assert!(request(&prices, LOCAL, "ours", &body).quote().is_free);
        let known = |url, model| known_cost(&prices, Some(url), Some(model), tokens);
        assert_eq!(
            [known(LOCAL, "ours"), known(REMOTE, "ours"), known(LOCAL, "gpt-4o")],
            [Some(0.0), None, Some(2.5)]
        );
    }
}
