//! Converts an amount of money.

use serde::Serialize;

use super::{Tool, ToolError, to_pennies};
use crate::records::Records;

/// The arguments: an amount, and the codes of two currencies.
#[derive(Debug, Serialize)]
pub(crate) struct ConvertCurrency {
    pub(crate) amount: f64,
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Tool for ConvertCurrency {
    const NAME: &'static str = "convert_currency";
    type Answer = f64;

    fn call(&self, records: &Records) -> Result<f64, ToolError> {
        let rate = |code: &String| {
            records.rates.get(code).ok_or_else(|| ToolError::UnknownCurrency(code.clone())).copied()
        };
        Ok(to_pennies(self.amount / rate(&self.from)? * rate(&self.to)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::example;

    fn convert(amount: f64, from: &str, to: &str) -> Result<f64, ToolError> {
        ConvertCurrency { amount, from: from.to_owned(), to: to.to_owned() }.call(&example())
    }

    #[test]
    fn an_amount_is_rounded_to_pennies() {
        assert_eq!(convert(80.0, "GBP", "EUR").unwrap(), 92.8);
        assert_eq!(convert(200.0, "USD", "GBP").unwrap(), 152.67);
    }

    #[test]
    fn a_currency_without_a_rate_is_an_error() {
        assert_eq!(convert(1.0, "GBP", "JPY").unwrap_err().to_string(), "there is no rate for JPY");
    }
}
