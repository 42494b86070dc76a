//! What models cost: the built-in prices, with those of the file.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::merge::Merge;
use super::model::ModelPrice;
use super::read::dotted;
use crate::prices::{LongPrompt, Price, PriceTable};
use crate::settings::Dollars;

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub(super) fn prices(&mut self, written: BTreeMap<String, ModelPrice>) -> PriceTable {
        let mut table = PriceTable::default();
        for (model, price) in written {
            self.note_written(&dotted("prices", &model), Some(&price));
            table.insert(model, price.into()).expect("amounts are checked as they are read");
        }
        table
    }
}

impl From<ModelPrice> for Price {
    fn from(written: ModelPrice) -> Self {
        let ModelPrice { input: Dollars(input), output: Dollars(output), cached_input, long_prompt } =
            written;
        Self {
            cached_input: cached_input.map(|Dollars(rate)| rate),
            long_prompt: long_prompt.map(|long| LongPrompt {
                above: long.above,
                input: long.input.0,
                output: long.output.0,
            }),
            ..Self::new(input, output)
        }
    }
}
