//! The built-in prices, with sources by vendor.

use super::{Price, Vendor};

/// The date of the built-in prices. The vendor comments in the table have the dates of their sources.
pub const PRICES_AS_OF: &str = "2026-11-20";

/// An entry of the table.
pub struct Listed {
    pub(super) model: &'static str,
    pub(super) vendor: Vendor,
    pub(super) price: Price,
}

const fn openai(model: &'static str, input: f64, output: f64) -> Listed {
    Listed { model, vendor: Vendor::OpenAi, price: Price::new(input, output) }
}

const fn anthropic(model: &'static str, input: f64, output: f64) -> Listed {
    Listed { model, vendor: Vendor::Anthropic, price: Price::new(input, output) }
}

const fn google(model: &'static str, input: f64, output: f64) -> Listed {
    Listed { model, vendor: Vendor::Google, price: Price::new(input, output) }
}

const fn cohere(model: &'static str, input: f64, output: f64) -> Listed {
    Listed { model, vendor: Vendor::Cohere, price: Price::new(input, output) }
}

const fn voyage(model: &'static str, input: f64) -> Listed {
    Listed { model, vendor: Vendor::Voyage, price: Price::new(input, 0.0) }
}

impl Listed {
    const fn cached(self, cached_input: f64) -> Self {
        Self { price: self.price.cached(cached_input), ..self }
    }

    const fn long(self, above: u64, input: f64, output: f64) -> Self {
        Self { price: self.price.long(above, input, output), ..self }
    }
}

/// The prompt length above which OpenAI charges 2x the input rate and 1.5x the output rate for the entire request.
const OPENAI_LONG: u64 = 272_000;

/// The prompt length above which Google's Pro models have higher rates.
const GOOGLE_LONG: u64 = 200_000;

/// All models with a known price. Names are listed without snapshot dates, unless a snapshot has its own price or another date
/// format.
pub const TABLE: &[Listed] = &[
    // OpenAI, standard tier. Source: https://developers.openai.com/api/docs/pricing, as transcribed by public price lists
    // up to 2026-10-18; models before GPT-5.6 also in LiteLLM's model_prices_and_context_window.json of July 2026.
    openai("gpt-6-astra", 10.0, 50.0).cached(1.0).long(OPENAI_LONG, 20.0, 75.0),
    openai("gpt-6.1-sol", 2.0, 10.0).cached(0.1).long(OPENAI_LONG, 4.0, 15.0),
    openai("gpt-6-sol", 2.0, 10.0).cached(0.2).long(OPENAI_LONG, 4.0, 15.0),
    openai("gpt-6-luna", 0.1, 0.5).cached(0.01).long(OPENAI_LONG, 0.2, 0.75),
    // `gpt-5.6` is OpenAI's alias of `gpt-5.6-sol`. Terra and Luna became cheaper on 2026-07-30, Sol in the weeks after.
    openai("gpt-5.6", 4.0, 20.0).cached(0.4).long(OPENAI_LONG, 8.0, 30.0),
    openai("gpt-5.6-sol", 4.0, 20.0).cached(0.4).long(OPENAI_LONG, 8.0, 30.0),
    openai("gpt-5.6-terra", 2.0, 12.0).cached(0.2).long(OPENAI_LONG, 4.0, 18.0),
    openai("gpt-5.6-luna", 0.2, 1.2).cached(0.02).long(OPENAI_LONG, 0.4, 1.8),
    openai("gpt-5.5", 5.0, 30.0).cached(0.5).long(OPENAI_LONG, 10.0, 45.0),
    openai("gpt-5.5-pro", 30.0, 180.0).long(OPENAI_LONG, 60.0, 270.0),
    openai("gpt-5.4", 2.5, 15.0).cached(0.25).long(OPENAI_LONG, 5.0, 22.5),
    openai("gpt-5.4-pro", 30.0, 180.0).long(OPENAI_LONG, 60.0, 270.0),
    openai("gpt-5.4-mini", 0.75, 4.5).cached(0.075),
    openai("gpt-5.4-nano", 0.2, 1.25).cached(0.02),
    openai("gpt-5.3-codex", 1.75, 14.0).cached(0.175),
    openai("gpt-5.3-chat-latest", 1.75, 14.0).cached(0.175),
    openai("gpt-5.2", 1.75, 14.0).cached(0.175),
    openai("gpt-5.2-chat-latest", 1.75, 14.0).cached(0.175),
    openai("gpt-5.2-codex", 1.75, 14.0).cached(0.175),
    openai("gpt-5.2-pro", 21.0, 168.0),
    openai("gpt-5.1", 1.25, 10.0).cached(0.125),
    openai("gpt-5.1-chat-latest", 1.25, 10.0).cached(0.125),
    openai("gpt-5.1-codex", 1.25, 10.0).cached(0.125),
    openai("gpt-5.1-codex-mini", 0.25, 2.0).cached(0.025),
    openai("gpt-5", 1.25, 10.0).cached(0.125),
    openai("gpt-5-chat-latest", 1.25, 10.0).cached(0.125),
    openai("gpt-5-mini", 0.25, 2.0).cached(0.025),
    openai("gpt-5-nano", 0.05, 0.4).cached(0.005),
    openai("gpt-5-pro", 15.0, 120.0),
    openai("gpt-4.1", 2.0, 8.0).cached(0.5),
    openai("gpt-4.1-mini", 0.4, 1.6).cached(0.1),
    openai("gpt-4.1-nano", 0.1, 0.4).cached(0.025),
    openai("gpt-4o", 2.5, 10.0).cached(1.25),
    openai("gpt-4o-2024-05-13", 5.0, 15.0),
    openai("chatgpt-4o-latest", 5.0, 15.0),
    openai("gpt-4o-mini", 0.15, 0.6).cached(0.075),
    openai("gpt-4-turbo", 10.0, 30.0),
    openai("gpt-4-turbo-preview", 10.0, 30.0),
    openai("gpt-4-0125-preview", 10.0, 30.0),
    openai("gpt-4-1106-preview", 10.0, 30.0),
    openai("gpt-4", 30.0, 60.0),
    openai("gpt-4-0613", 30.0, 60.0),
    openai("gpt-3.5-turbo", 0.5, 1.5),
    openai("gpt-3.5-turbo-0125", 0.5, 1.5),
    openai("gpt-3.5-turbo-1106", 1.0, 2.0),
    openai("o1", 15.0, 60.0).cached(7.5),
    openai("o1-pro", 150.0, 600.0),
    openai("o3", 2.0, 8.0).cached(0.5),
    openai("o3-pro", 20.0, 80.0),
    openai("o3-mini", 1.1, 4.4).cached(0.55),
    openai("o3-deep-research", 10.0, 40.0).cached(2.5),
    openai("o4-mini", 1.1, 4.4).cached(0.275),
    openai("o4-mini-deep-research", 2.0, 8.0).cached(0.5),
    openai("text-embedding-3-small", 0.02, 0.0),
    openai("text-embedding-3-large", 0.13, 0.0),
    openai("text-embedding-ada-002", 0.1, 0.0),
    // Anthropic. Source: https://platform.claude.com/docs/en/about-claude/pricing and the pages of the models, as of
    // 2026-10-24 by their transcriptions.
    anthropic("claude-fable-5-1", 10.0, 50.0).cached(0.25),
    anthropic("claude-fable-5", 10.0, 50.0).cached(1.0),
    anthropic("claude-mythos-5-1", 10.0, 50.0).cached(0.25),
    anthropic("claude-mythos-5", 10.0, 50.0).cached(1.0),
    anthropic("claude-opus-5-5", 4.0, 20.0).cached(0.2),
    anthropic("claude-opus-5", 5.0, 25.0).cached(0.5),
    anthropic("claude-opus-4-8", 5.0, 25.0).cached(0.5),
    anthropic("claude-opus-4-7", 5.0, 25.0).cached(0.5),
    anthropic("claude-opus-4-6", 5.0, 25.0).cached(0.5),
    anthropic("claude-opus-4-5", 5.0, 25.0).cached(0.5),
    anthropic("claude-opus-4-1", 15.0, 75.0).cached(1.5),
    anthropic("claude-opus-4-0", 15.0, 75.0).cached(1.5),
    anthropic("claude-opus-4", 15.0, 75.0).cached(1.5),
    anthropic("claude-sonnet-5-5", 2.0, 10.0).cached(0.1),
    anthropic("claude-sonnet-5", 2.0, 10.0).cached(0.2),
    anthropic("claude-sonnet-4-6", 3.0, 15.0).cached(0.3),
    // For the default prompts of up to 200,000 tokens; the higher rates of the 1M beta were removed with it.
    anthropic("claude-sonnet-4-5", 3.0, 15.0).cached(0.3),
    anthropic("claude-sonnet-4-0", 3.0, 15.0).cached(0.3),
    anthropic("claude-sonnet-4", 3.0, 15.0).cached(0.3),
    anthropic("claude-haiku-5-5", 0.1, 0.5).cached(0.01).long(100_000, 0.5, 2.5),
    anthropic("claude-haiku-4-5", 1.0, 5.0).cached(0.1),
    // Retired, still found in older results.
    anthropic("claude-3-7-sonnet", 3.0, 15.0).cached(0.3),
    anthropic("claude-3-7-sonnet-latest", 3.0, 15.0).cached(0.3),
    anthropic("claude-3-5-sonnet", 3.0, 15.0).cached(0.3),
    anthropic("claude-3-5-sonnet-latest", 3.0, 15.0).cached(0.3),
    anthropic("claude-3-5-haiku", 0.8, 4.0).cached(0.08),
    anthropic("claude-3-5-haiku-latest", 0.8, 4.0).cached(0.08),
    anthropic("claude-3-opus", 15.0, 75.0).cached(1.5),
    anthropic("claude-3-haiku", 0.25, 1.25).cached(0.025),
    // Google, paid tier of the Gemini API, text. Source: https://ai.google.dev/gemini-api/docs/pricing as of 2026-10-07 by
    // its transcription; Gemini 3 Flash, 3.1 Flash-Lite and 3.6 Flash by public price lists of 2026.
    // 3.8 Flash costs twice as much from 2027-01-01: 1.5 and 7.5.
    google("gemini-3.8-flash", 0.75, 3.75).cached(0.075),
    google("gemini-3.6-flash", 1.5, 7.5).cached(0.15),
    google("gemini-3.5-flash", 1.5, 9.0).cached(0.15),
    google("gemini-3.5-flash-lite", 0.3, 2.5).cached(0.03),
    google("gemini-3.1-pro-preview", 2.0, 12.0).cached(0.2).long(GOOGLE_LONG, 4.0, 18.0),
    google("gemini-3.1-flash-lite", 0.25, 1.5).cached(0.025),
    google("gemini-3.1-flash-lite-preview", 0.25, 1.5).cached(0.025),
    google("gemini-3-pro-preview", 2.0, 12.0).long(GOOGLE_LONG, 4.0, 18.0),
    google("gemini-3-flash-preview", 0.5, 3.0),
    google("gemini-2.5-pro", 1.25, 10.0).cached(0.125).long(GOOGLE_LONG, 2.5, 15.0),
    google("gemini-2.5-flash", 0.3, 2.5).cached(0.03),
    google("gemini-2.5-flash-lite", 0.1, 0.4).cached(0.01),
    google("gemini-2.0-flash", 0.1, 0.4),
    google("gemini-2.0-flash-lite", 0.075, 0.3),
    google("gemini-embedding-2", 0.2, 0.0),
    google("gemini-embedding-001", 0.15, 0.0),
    // Cohere, production keys. Source: https://cohere.com/pricing as of 2026-11-11 by its transcriptions; Command R+, Command
    // A and Embed 3 by LiteLLM's list.
    cohere("embed-v5.0-pro", 0.12, 0.0),
    cohere("embed-v5.0-fast", 0.08, 0.0),
    cohere("embed-v4.0", 0.12, 0.0),
    cohere("embed-english-v3.0", 0.1, 0.0),
    cohere("embed-english-light-v3.0", 0.1, 0.0),
    cohere("embed-multilingual-v3.0", 0.1, 0.0),
    cohere("command-a-03-2025", 2.5, 10.0),
    cohere("command-r-plus-08-2024", 2.5, 10.0),
    cohere("command-r-08-2024", 0.15, 0.6),
    cohere("command-r7b-12-2024", 0.0375, 0.15),
    // Voyage AI, after the free tokens. Source: price lists of 2026 of gateways that charge its prices, and
    // LiteLLM's list.
    voyage("voyage-4-large", 0.12),
    voyage("voyage-4", 0.06),
    voyage("voyage-4-lite", 0.02),
    voyage("voyage-3-large", 0.18),
    voyage("voyage-3", 0.06),
    voyage("voyage-3-lite", 0.02),
    voyage("voyage-finance-2", 0.12),
];
