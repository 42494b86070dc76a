//! Number and duration literals: `0.8`, `10_000`, `1.5s`.

use cobalt_thresholds as rules;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

/// A number with its suffix, which may be a unit.
pub struct Number {
    pub value: f64,
    pub suffix: String,
    /// The digits as written, without underscores and without a Rust type.
    pub text: String,
}

impl Number {
    /// Parses an expression that is just a number.
    pub fn of(expression: &Expr) -> Option<Self> {
        match expression {
            Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => {
                Self::new(literal.base10_digits(), literal.suffix())
            }
            Expr::Lit(ExprLit { lit: Lit::Float(literal), .. }) => {
                Self::new(literal.base10_digits(), literal.suffix())
            }
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => {
                let number = Self::of(expr)?;
                Some(Self { value: -number.value, text: format!("-{}", number.text), ..number })
            }
            Expr::Paren(inner) => Self::of(&inner.expr),
            Expr::Group(inner) => Self::of(&inner.expr),
            _ => None,
        }
    }

    fn new(digits: &str, suffix: &str) -> Option<Self> {
        let text = if is_type(suffix) { digits.to_owned() } else { format!("{digits}{suffix}") };
        Some(Self { value: digits.parse().ok()?, suffix: suffix.to_owned(), text })
    }

    /// Whether the suffix is a unit, not a Rust type.
    pub fn has_unit(&self) -> bool {
        !is_type(&self.suffix)
    }

    /// The duration in nanoseconds, or why it is not valid.
    pub fn nanos(&self) -> Result<u64, String> {
        rules::duration_nanos(self.value, &self.suffix)
    }
}

fn is_type(suffix: &str) -> bool {
    matches!(suffix, "" | "f32" | "f64" | "usize" | "isize")
        || suffix
            .strip_prefix(['i', 'u'])
            .is_some_and(|bits| matches!(bits, "8" | "16" | "32" | "64" | "128"))
}

/// Whether an expression is a literal, which can be checked without type information.
pub fn is_literal(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(_)) || Number::of(expression).is_some()
}

/// An expression of type `Duration`: parsed from `30s`, or unchanged if it is not a number.
pub fn duration(key: &str, expression: &Expr) -> Result<TokenStream, String> {
    let Some(number) = Number::of(expression) else {
        return Ok(expression.to_token_stream());
    };
    if !number.has_unit() {
        let text = &number.text;
        return Err(format!("`{key}` needs a unit: write `{text}s` or `{text}ms`"));
    }
    let nanos = number.nanos()?;
    if nanos == 0 {
        return Err(format!("`{key}` must be greater than zero: write, for example, `30s`"));
    }
    Ok(quote!(::core::time::Duration::from_nanos(#nanos)))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn nanos(expression: &Expr) -> String {
        let tokens = duration("timeout", expression).unwrap().to_string();
        tokens.split(['(', ')']).nth(1).unwrap().replace("u64", "")
    }

    #[test]
    fn every_unit_has_its_length() {
        assert_eq!(nanos(&parse_quote!(10us)), "10000");
        assert_eq!(nanos(&parse_quote!(500ms)), "500000000");
        assert_eq!(nanos(&parse_quote!(1.5s)), "1500000000");
        assert_eq!(nanos(&parse_quote!(2m)), "120000000000");
        assert_eq!(nanos(&parse_quote!(1h)), "3600000000000");
    }

    #[test]
    fn a_bare_number_is_told_to_take_a_unit() {
        let error = duration("timeout", &parse_quote!(30)).unwrap_err();
        assert_eq!(error, "`timeout` needs a unit: write `30s` or `30ms`");
    }

    #[test]
    fn an_unknown_unit_is_told_the_right_one() {
        let error = duration("timeout", &parse_quote!(5sec)).unwrap_err();
        assert!(error.contains("write `5s`"), "{error}");
        assert!(duration("timeout", &parse_quote!(5parsec)).unwrap_err().contains("`ms`"));
    }

    #[test]
    fn other_expressions_stay_as_they_are() {
        let expression: Expr = parse_quote!(Duration::from_secs(5) * 2);
        assert_eq!(duration("timeout", &expression).unwrap().to_string(), quote!(#expression).to_string());
    }

    #[test]
    fn a_rust_type_is_no_unit() {
        let number = Number::of(&parse_quote!(1_000usize)).unwrap();
        assert!(!number.has_unit());
        assert_eq!(number.text, "1000");
    }

    #[test]
    fn a_sign_belongs_to_the_number() {
        assert_eq!(Number::of(&parse_quote!(-0.50)).unwrap().text, "-0.50");
    }
}
