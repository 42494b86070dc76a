//! Model prices: a dated price table, and cost estimates from token counts.
//!
//! Prices are in USD per 1,000,000 tokens, at the provider's standard rate: without batch, flex, priority or regional
//! rates, and without tools and images. A model that is not listed has no price: its cost is unknown, never a guess. On a
//! server on this machine ([`is_local_server`]) it costs nothing.
//!
//! # Lookup by name
//!
//! Names are compared exactly and case-sensitively. The first listed name of these gives the price:
//!
//! 1. the name itself (`gpt-4o`, and `gpt-4o-2024-05-13`, which has its own price);
//! 2. the name without the prefix of the provider that sells the model (`openai/gpt-4o`, `anthropic/claude-haiku-4-5`,
//!    `models/gemini-2.5-pro`); other prefixes (`azure/…`, `openrouter/…`) are kept, as resellers set their own
//!    prices;
//! 3. either of them without the date of a snapshot in the providers' formats: `-YYYY-MM-DD` (`gpt-4o-2024-08-06`) or
//!    `-YYYYMMDD` (`claude-haiku-4-5-20251001`).
//!
//! Nothing else is stripped or added: `gpt-4o-audio-preview` does not match `gpt-4o`.

mod local_server;
mod reported;
mod table;
mod usage;

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::hash::sha256_hex;
use crate::serde_skip::is_zero;
use crate::wording::group_decimal;
pub use local_server::is_local_server;
pub(crate) use reported::MAX_TRIAL_TOKENS;
pub use reported::{is_plausible, reported_count};
pub use table::PRICES_AS_OF;
use table::{Listed, TABLE};
pub use usage::{JudgeMeter, JudgeUsage};

/// The price of a model, in USD per 1,000,000 tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input (prompt) tokens.
    pub input: f64,
    /// Output (completion) tokens, including hidden reasoning; 0 for an embedding model.
    pub output: f64,
    /// Input tokens read from the provider's cache, if they have a separate price; otherwise they cost as much as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// The rates of requests with a long prompt, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_prompt: Option<LongPrompt>,
}

/// The rates, in USD per 1,000,000 tokens, of an entire request whose prompt exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrompt {
    /// The longest prompt, in tokens, at the ordinary rates.
    pub above: u64,
    /// Input (prompt) tokens.
    pub input: f64,
    /// Output (completion) tokens.
    pub output: f64,
}

/// Input and output tokens of model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Tokens {
    /// Input (prompt) tokens.
    pub input: u64,
    /// Output (completion) tokens.
    pub output: u64,
    /// The input tokens that were read from the provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_input: u64,
}

impl Tokens {
    /// Tokens without cached input.
    #[must_use]
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, cached_input: 0 }
    }

    /// Input and output together.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, Self { input, output, cached_input }: Self) {
        // A provider may report anything; a panic would lose all results.
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        self.cached_input = self.cached_input.saturating_add(cached_input);
    }
}

/// An invalid price.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "price of model `{model}`: {field} is {value}, expected a finite number of USD per 1,000,000 tokens, at least 0"
)]
pub struct InvalidPrice {
    /// The model of the price.
    pub model: String,
    /// The field with the invalid value.
    pub field: &'static str,
    /// The value.
    pub value: f64,
}

impl Price {
    /// A price with one rate for all input and one for all output, in USD per 1,000,000 tokens.
    pub const fn new(input: f64, output: f64) -> Self {
        Self { input, output, cached_input: None, long_prompt: None }
    }

    /// The cost of one request in USD: `input / 10⁶ · input price + output / 10⁶ · output price`, with the price
    /// [`Price::cached_input`] for cached input tokens.
    ///
    /// For a long prompt, the price of cached input increases by the same factor as that of other input. This matches the price
    /// lists of OpenAI (2 · 0.25 USD vs. 2 · 2.50 USD for GPT-5.4), Anthropic (a tenth of the input rate for every prompt length)
    /// and Google (0.125 and 0.25 USD vs. 1.25 and 2.50 USD for Gemini 2.5 Pro).
    ///
    /// You can also pass a sum over several requests. If it exceeds the limit of [`Price::long_prompt`], it is charged as one long
    /// request, and the estimate is an upper bound.
    pub fn cost(&self, tokens: Tokens) -> f64 {
        let (input, output) = match self.long_prompt {
            Some(long) if tokens.input > long.above => (long.input, long.output),
            _ => (self.input, self.output),
        };
        // There is no factor if other input is free.
        let factor = if self.input > 0.0 { input / self.input } else { 1.0 };
        let cached_input = self.cached_input.map_or(input, |rate| rate * factor);
        // Cached input cannot exceed the input.
        let cached = tokens.cached_input.min(tokens.input);
        let fresh = tokens.input - cached;
        fresh as f64 / 1e6 * input + cached as f64 / 1e6 * cached_input + tokens.output as f64 / 1e6 * output
    }

    const fn cached(mut self, cached_input: f64) -> Self {
        self.cached_input = Some(cached_input);
        self
    }

    const fn long(mut self, above: u64, input: f64, output: f64) -> Self {
        self.long_prompt = Some(LongPrompt { above, input, output });
        self
    }

    fn check(&self, model: &str) -> Result<(), InvalidPrice> {
        let rates = [
            ("input", Some(self.input)),
            ("output", Some(self.output)),
            ("cached_input", self.cached_input),
            ("long_prompt.input", self.long_prompt.map(|long| long.input)),
            ("long_prompt.output", self.long_prompt.map(|long| long.output)),
        ];
        for (field, rate) in rates {
            if let Some(value) = rate.filter(|rate| !(rate.is_finite() && *rate >= 0.0)) {
                return Err(InvalidPrice { model: model.to_owned(), field, value });
            }
        }
        Ok(())
    }
}

/// The built-in price of a model, `None` if it is not listed. See the [module](self) for the lookup by name.
pub fn builtin_price(model: &str) -> Option<Price> {
    PriceTable::default().price(model)
}

/// The cost of `tokens` of a model at the built-in prices, in USD; see [`Price::cost`]. `None` if the model is not listed. Use
/// [`PriceTable::estimate`] for your own prices.
///
/// ```
/// use cobalt::llm::prices::{Tokens, estimate_cost, format_cost};
///
/// let cost = estimate_cost("gpt-4o", Tokens::new(10_000, 5_000)).unwrap();
/// assert_eq!(format_cost(cost), "$0.08");
/// assert_eq!(estimate_cost("unheard-of", Tokens::new(10_000, 5_000)), None);
/// ```
pub fn estimate_cost(model: &str, tokens: Tokens) -> Option<f64> {
    PriceTable::default().estimate(model, tokens)
}

/// The built-in prices with the user's additions and replacements.
///
/// ```
/// use cobalt::llm::prices::{Price, PriceTable, Tokens};
///
/// let mut prices = PriceTable::default();
/// prices.insert("our-model", Price::new(1.0, 2.0))?;
/// let tokens = Tokens::new(500_000, 250_000);
/// assert_eq!(prices.estimate("our-model", tokens), Some(1.0));
/// assert_eq!(prices.estimate("unheard-of", tokens), None);
/// # Ok::<(), cobalt::llm::prices::InvalidPrice>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    overrides: BTreeMap<String, Price>,
}

impl PriceTable {
    /// Adds the price of a model, or replaces the built-in one.
    ///
    /// More specific names take precedence: the price of `gpt-4o` also applies to `openai/gpt-4o` and `gpt-4o-2024-08-06`, but not
    /// to `gpt-4o-2024-05-13`, which has its own built-in price.
    ///
    /// # Errors
    ///
    /// A rate is negative, infinite or NaN. The table is unchanged then.
    pub fn insert(&mut self, model: impl Into<String>, price: Price) -> Result<(), InvalidPrice> {
        let model = model.into();
        price.check(&model)?;
        self.overrides.insert(model, price);
        Ok(())
    }

    /// A hash of the prices: of the date of the built-in ones, and of the others.
    #[must_use]
    pub fn hash(&self) -> String {
        let overrides = serde_json::to_vec(&self.overrides).expect("prices are numbers");
        sha256_hex(&[PRICES_AS_OF.as_bytes(), &overrides])
    }

    /// The price of a model, `None` if it is not listed. See the [module](self) for the lookup by name.
    pub fn price(&self, model: &str) -> Option<Price> {
        names_of(model).find_map(|(vendor, name)| self.exact(vendor, name))
    }

    /// The cost of `tokens` of a model in USD; see [`Price::cost`]. `None` if the model is not listed.
    pub fn estimate(&self, model: &str, tokens: Tokens) -> Option<f64> {
        self.price(model).map(|price| price.cost(tokens))
    }

    /// The highest rates of all models: what a model without a price costs at most, as far as a budget knows.
    #[must_use]
    pub fn highest(&self) -> Price {
        let all = TABLE.iter().map(|listed| &listed.price).chain(self.overrides.values());
        let rates = all.flat_map(|price| {
            let long = price.long_prompt.map(|long| (long.input, long.output));
            [(price.input, price.output)].into_iter().chain(long)
        });
        let (input, output) = rates.fold((0.0, 0.0), |(input, output), (own_input, own_output)| {
            (f64::max(input, own_input), f64::max(output, own_output))
        });
        Price::new(input, output)
    }

    /// The price listed under exactly this name; a built-in one only of that vendor, if given.
    fn exact(&self, vendor: Option<Vendor>, name: &str) -> Option<Price> {
        if let Some(price) = self.overrides.get(name) {
            return Some(*price);
        }
        let Listed { vendor: seller, price, .. } = TABLE.iter().find(|listed| listed.model == name)?;
        (vendor.is_none_or(|vendor| vendor == *seller)).then_some(*price)
    }
}

/// The vendor of a model at the listed price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vendor {
    OpenAi,
    Anthropic,
    Google,
    Cohere,
    Voyage,
}

/// The names that a model may be listed under, the most specific first, each with the vendor of its prefix.
fn names_of(model: &str) -> impl Iterator<Item = (Option<Vendor>, &str)> {
    let (vendor, bare) = split_vendor(model);
    let candidates = [
        (None, Some(model)),
        (vendor, vendor.map(|_| bare)),
        (None, without_date(model)),
        (vendor, vendor.and_then(|_| without_date(bare))),
    ];
    candidates.into_iter().filter_map(|(vendor, name)| Some((vendor, name?)))
}

/// Whether a model has this name, as in the lookup of prices: `gpt-4o` also names `openai/gpt-4o-2024-08-06`.
pub(crate) fn is_named(model: &str, name: &str) -> bool {
    names_of(model).any(|(_, known)| known == name)
}

/// Splits off the prefix of a known vendor.
fn split_vendor(model: &str) -> (Option<Vendor>, &str) {
    let Some((prefix, bare)) = model.split_once('/') else { return (None, model) };
    let vendor = match prefix {
        "openai" => Vendor::OpenAi,
        "anthropic" => Vendor::Anthropic,
        // Google's own API writes `models/gemini-…`.
        "google" | "gemini" | "models" => Vendor::Google,
        "cohere" => Vendor::Cohere,
        "voyage" | "voyageai" => Vendor::Voyage,
        _ => return (None, model),
    };
    (Some(vendor), bare)
}

/// The name without a trailing snapshot date, `None` without one.
fn without_date(model: &str) -> Option<&str> {
    // From the end: day, month and year, all separated by dashes or none.
    for dash in ["-", ""] {
        let parts = split_end(model, 2).and_then(|(rest, day)| {
            let (rest, month) = split_end(rest.strip_suffix(dash)?, 2)?;
            let (name, year) = split_end(rest.strip_suffix(dash)?, 4)?;
            Some((name.strip_suffix('-')?, year, month, day))
        });
        if let Some((name, year, month, day)) = parts
            && is_date(year, month, day)
        {
            return Some(name);
        }
    }
    None
}

/// Splits the last `length` bytes off a text.
fn split_end(text: &str, length: usize) -> Option<(&str, &str)> {
    text.split_at_checked(text.len().checked_sub(length)?)
}

fn is_date(year: &str, month: &str, day: &str) -> bool {
    let within = |digits: &str, low: u16, high: u16| {
        // `parse` would accept a sign.
        digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits.parse().is_ok_and(|number: u16| (low..=high).contains(&number))
    };
    within(year, 2020, 2099) && within(month, 1, 12) && within(day, 1, 31)
}

/// Formats a cost in USD: `$1.25`, `$0.00` for zero, and `<$0.01` for less than a cent.
///
/// Half a cent is rounded up. Costs are never negative or NaN; such values are formatted as `<$0.01` or `$NaN`.
pub fn format_cost(usd: f64) -> String {
    if usd == 0.0 {
        return "$0.00".to_owned();
    }
    if usd < 0.01 {
        return "<$0.01".to_owned();
    }
    // The formatter rounds exact halves to even. These are the only half cents that a double can represent.
    let rounded_up = match usd.fract() {
        0.125 => "13",
        0.375 => "38",
        0.625 => "63",
        0.875 => "88",
        _ => return format!("${usd:.2}"),
    };
    format!("${:.0}.{rounded_up}", usd.trunc())
}

/// A cost in US dollars as all our texts show it: `$1.25`, `$0.14`, `$0.0015`. It has at least two significant digits.
#[must_use]
pub fn format_cost_precise(usd: f64) -> String {
    format_dollars(usd, cost_decimals(usd))
}

/// Costs that are shown beside each other, with the same decimals: enough for the smallest, but at most six.
///
/// ```
/// # use cobalt_core::prices::CostFormat;
/// let costs = CostFormat::of([0.0015, 0.138]);
/// assert_eq!([costs.format(0.0015), costs.format(0.138)], ["$0.0015", "$0.1380"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CostFormat {
    decimals: usize,
}

impl CostFormat {
    const MAX_DECIMALS: usize = 6;

    /// The format for these costs.
    #[must_use]
    pub fn of(costs: impl IntoIterator<Item = f64>) -> Self {
        let most = costs.into_iter().map(cost_decimals).max().unwrap_or_default();
        Self { decimals: most.min(Self::MAX_DECIMALS) }
    }

    /// One of the costs. It has more decimals if it would otherwise have fewer than two significant digits.
    #[must_use]
    pub fn format(self, usd: f64) -> String {
        format_dollars(usd, cost_decimals(usd).max(self.decimals))
    }
}

/// The maximum number of decimals of a cost: more are noise of floating-point numbers.
pub(crate) const MAX_COST_DECIMALS: usize = 14;

/// The decimals that show at least two significant digits of a cost, and cents.
pub(crate) fn cost_decimals(usd: f64) -> usize {
    if usd == 0.0 {
        return 2;
    }
    (1.0 - usd.abs().log10().floor()).clamp(2.0, MAX_COST_DECIMALS as f64) as usize
}

/// A cost with this number of decimals and thousands separators. A zero has no sign.
pub(crate) fn format_dollars(usd: f64, decimals: usize) -> String {
    // The formatter rounds exact halves to even.
    let halves_up = usd.abs() * (1.0 + f64::EPSILON);
    let number = format!("{halves_up:.decimals$}");
    let is_zero = number.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    format!("{}${}", if usd < 0.0 && !is_zero { "-" } else { "" }, group_decimal(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(model: &str) -> Price {
        builtin_price(model).unwrap_or_else(|| panic!("`{model}` has no price"))
    }

    #[test]
    fn the_table_lists_each_model_once_with_a_sound_price() {
        for (at, one) in TABLE.iter().enumerate() {
            assert!(
                TABLE[..at].iter().all(|other| other.model != one.model),
                "`{}` is listed twice",
                one.model
            );
            one.price.check(one.model).unwrap();
            assert!(one.price.input > 0.0, "`{}` is free", one.model);
            if let Some(cached) = one.price.cached_input {
                assert!(
                    cached < one.price.input,
                    "cached input of `{}` is not cheaper than input",
                    one.model
                );
            }
            if let Some(long) = one.price.long_prompt {
                assert!(long.input > one.price.input && long.output > one.price.output, "`{}`", one.model);
            }
        }
    }

    #[test]
    fn the_date_of_the_table_is_a_date() {
        let (year, rest) = PRICES_AS_OF.split_once('-').unwrap();
        let (month, day) = rest.split_once('-').unwrap();
        assert!(is_date(year, month, day));
    }

    #[test]
    fn a_dated_snapshot_costs_what_its_model_costs() {
        for (snapshot, model) in [
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
            ("gpt-5.5-2026-04-23", "gpt-5.5"),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
            ("claude-3-5-haiku-20241022", "claude-3-5-haiku"),
        ] {
            assert_eq!(listed(snapshot), listed(model), "{snapshot}");
        }
    }

    #[test]
    fn a_snapshot_with_a_price_of_its_own_keeps_it() {
        assert_eq!(listed("gpt-4o-2024-05-13"), Price::new(5.0, 15.0));
        assert_ne!(listed("gpt-3.5-turbo-1106"), listed("gpt-3.5-turbo"));
    }

    #[test]
    fn the_prefix_of_the_vendor_is_understood() {
        assert_eq!(listed("openai/gpt-4o"), listed("gpt-4o"));
        assert_eq!(listed("openai/gpt-4o-2024-05-13"), listed("gpt-4o-2024-05-13"));
        assert_eq!(listed("anthropic/claude-haiku-4-5-20251001"), listed("claude-haiku-4-5"));
        assert_eq!(listed("models/gemini-2.5-pro"), listed("gemini-2.5-pro"));
    }

    #[test]
    fn another_sellers_model_has_no_price() {
        for model in [
            "azure/gpt-4o",
            "openrouter/openai/gpt-4o",
            "anthropic/gpt-4o",
            "openai/claude-opus-4-6",
            "/gpt-4o",
        ] {
            assert_eq!(builtin_price(model), None, "{model}");
        }
    }

    #[test]
    fn a_name_that_only_starts_alike_has_no_price() {
        for model in [
            "gpt-4o-audio-preview",
            "gpt-4o-audio-preview-2024-12-17",
            "gpt-4o-realtime-preview",
            "gpt-4o-",
            "gpt-4o-2024",
            "gpt-4o-20240806x",
            "gpt-4o-2024-13-06",
            "gpt-4o-1999-01-01",
            "gpt-4o-2024-0806",
            "gpt-4o-202408-06",
            "gpt-4o2024-08-06",
            "gpt-4o-+024-08-06",
            "gpt-4o-mini-high",
            "GPT-4o",
            " gpt-4o",
            "gpt",
            "some-model",
            "-2024-08-06",
            "é-2024-08-06",
            "",
        ] {
            assert_eq!(builtin_price(model), None, "{model}");
        }
    }

    #[test]
    fn a_long_prompt_is_charged_at_its_own_rates() {
        let haiku = listed("claude-haiku-4-5");
        assert_eq!(haiku.long_prompt, None);
        let price = listed("claude-haiku-5-5");
        let short = price.cost(Tokens::new(100_000, 1_000_000));
        let long = price.cost(Tokens::new(100_001, 1_000_000));
        assert!((short - 0.51).abs() < 1e-12 && (long - 2.550_000_5).abs() < 1e-12, "{short} {long}");
    }

    #[test]
    fn input_from_the_cache_has_its_own_rate_and_shares_the_rise_of_a_long_prompt() {
        let cost = |price: Price, input, cached_input| price.cost(Tokens { input, output: 0, cached_input });
        let price = Price::new(2.0, 10.0).cached(0.2).long(1_000_000, 4.0, 15.0);
        let is =
            |cost: f64, expected: f64| assert!((cost - expected).abs() < 1e-12, "{cost}, not {expected}");
        is(cost(price, 1_000_000, 400_000), 0.6 * 2.0 + 0.4 * 0.2);
        is(cost(price, 2_000_000, 1_000_000), 4.0 + 0.4);
        is(cost(price, 1_000_000, 9_000_000), 0.2);
        is(cost(Price::new(2.0, 10.0), 1_000_000, 400_000), 2.0);
        is(cost(Price::new(0.0, 0.0).cached(0.0).long(1, 4.0, 15.0), 1_000_000, 1_000_000), 0.0);
    }

    #[test]
    fn an_override_replaces_and_adds() {
        let mut prices = PriceTable::default();
        prices.insert("gpt-4o", Price::new(1.0, 1.0)).unwrap();
        prices.insert("azure/gpt-4o", Price::new(2.0, 2.0)).unwrap();
        for model in ["gpt-4o", "openai/gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o-2024-08-06"] {
            assert_eq!(prices.price(model), Some(Price::new(1.0, 1.0)), "{model}");
        }
        assert_eq!(prices.price("azure/gpt-4o"), Some(Price::new(2.0, 2.0)));
        assert_eq!(prices.price("gpt-4o-2024-05-13"), builtin_price("gpt-4o-2024-05-13"));
        assert_eq!(prices.price("gpt-4o-mini"), builtin_price("gpt-4o-mini"));
    }

    #[test]
    fn the_highest_price_has_all_highest_rates() {
        let mut prices = PriceTable::default();
        prices.insert("dear-input", Price::new(1e4, 1.0)).unwrap();
        prices.insert("dear-output", Price::new(1.0, 1.0).long(10, 2.0, 1e5)).unwrap();
        assert_eq!(prices.highest(), Price::new(1e4, 1e5));
    }

    #[test]
    fn a_price_that_is_no_amount_is_refused() {
        let mut prices = PriceTable::default();
        for odd in [-0.5, f64::NAN, f64::INFINITY] {
            let refused = prices.insert("m", Price::new(1.0, odd)).unwrap_err();
            assert_eq!((refused.model.as_str(), refused.field), ("m", "output"));
        }
        let refused = prices.insert("m", Price::new(-0.5, 1.0)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "price of model `m`: input is -0.5, expected a finite number of USD per 1,000,000 tokens, at least 0"
        );
        assert_eq!(prices, PriceTable::default());
    }

    #[test]
    fn halves_of_a_cent_are_rounded_up() {
        for (usd, text) in [
            (0.125, "$0.13"),
            (0.375, "$0.38"),
            (0.625, "$0.63"),
            (0.875, "$0.88"),
            (2_f64.powi(49) + 0.125, "$562949953421312.13"),
            (0.25, "$0.25"),
            (3.0, "$3.00"),
        ] {
            assert_eq!(format_cost(usd), text);
        }
    }

    #[test]
    fn less_than_a_cent_is_written_as_such() {
        assert_eq!((format_cost(0.0), format_cost(-0.0)), ("$0.00".to_owned(), "$0.00".to_owned()));
        for usd in [1e-9, 0.009_999, -1.0] {
            assert_eq!(format_cost(usd), "<$0.01");
        }
        assert_eq!(format_cost(0.01), "$0.01");
    }

    #[test]
    fn a_small_amount_keeps_two_digits() {
        for (usd, text) in [
            (0.0, "$0.00"),
            (-0.0, "$0.00"),
            (0.000_001_23, "$0.0000012"),
            (0.000_1, "$0.00010"),
            (0.002_149, "$0.0021"),
            (0.009_94, "$0.0099"),
            (0.009_99, "$0.0100"),
            (0.01, "$0.010"),
            (0.099, "$0.099"),
            (0.138, "$0.14"),
            (0.25, "$0.25"),
            (0.999_6, "$1.00"),
            (1.125, "$1.13"),
            (12_345.678, "$12,345.68"),
            (-0.001_5, "-$0.0015"),
        ] {
            assert_eq!(format_cost_precise(usd), text);
        }
    }

    #[test]
    fn costs_beside_each_other_have_the_same_decimals() {
        let shown = |costs: &[f64]| {
            let format = CostFormat::of(costs.iter().copied());
            costs.iter().map(|cost| format.format(*cost)).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[0.001_5, 0.138, 0.0]), ["$0.0015", "$0.1380", "$0.0000"]);
        assert_eq!(shown(&[1.5, 288.462]), ["$1.50", "$288.46"]);
        assert_eq!(shown(&[0.000_000_12, 0.25]), ["$0.00000012", "$0.250000"]);
    }
}
