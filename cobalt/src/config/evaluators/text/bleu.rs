//! `type = "bleu"`.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::table::{name_of, text_table, with_common};
use crate::config::error::{ConfigError, Place};
use crate::config::evaluators::typed::Settings;
use crate::evaluators::{Bleu, Evaluator};
use crate::metrics::BleuTokenizer;
use crate::settings::Word;
use crate::settings::with_written;
use crate::settings::{Count, Text};
use crate::suggest::unknown_name;

text_table! {
    BleuTable {
        /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
        field: Word,
        /// How texts become words; "13a" unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokenizer: Option<TokenizerName>,
        /// The longest sequences, in words; 4 unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_order: Option<Count>,
        /// Whether `Paris` and `paris` differ; they do unless it is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        case_sensitive: Option<bool>,
    }
}

/// A tokenizer, by the name that sacrebleu has for it.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct TokenizerName(BleuTokenizer);

impl TokenizerName {
    pub(in crate::config) const NAMES: [&str; 5] = ["13a", "none", "char", "intl", "zh"];

    fn name(self) -> &'static str {
        match self.0 {
            BleuTokenizer::V13a => "13a",
            BleuTokenizer::None => "none",
            BleuTokenizer::Char => "char",
            BleuTokenizer::Intl => "intl",
            BleuTokenizer::Zh => "zh",
        }
    }

    fn read(name: &str) -> Result<Self, String> {
        Ok(Self(match name {
            "13a" => BleuTokenizer::V13a,
            "none" => BleuTokenizer::None,
            "char" => BleuTokenizer::Char,
            "intl" => BleuTokenizer::Intl,
            "zh" => BleuTokenizer::Zh,
            _ => return Err(unknown_name("tokenizer", "tokenizers", name, &Self::NAMES)),
        }))
    }
}

impl<'de> Deserialize<'de> for TokenizerName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text { expected: "a tokenizer in quotes", read: Self::read })
    }
}

impl Serialize for TokenizerName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Settings for BleuTable {
    const TYPE: &'static str = "bleu";

    fn make(&self, _: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let written = self.clone();
        let bleu = with_written!(
            Bleu::new(name_of!(written), written.field.0),
            tokenizer(written.tokenizer.map(|TokenizerName(tokenizer)| tokenizer)),
            max_order(written.max_order.map(|Count(words)| words)),
            case_sensitive(written.case_sensitive),
        );
        Ok(Arc::new(with_common!(written, bleu)))
    }
}
