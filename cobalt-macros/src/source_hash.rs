//! A hash of source code that depends on its tokens, not on its layout or the compiler's version.

use proc_macro2::{TokenStream, TokenTree};

/// FNV-1a, 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>).
struct Hasher(u64);

impl Hasher {
    fn write(&mut self, text: &str) {
        // Ends each piece with a byte that UTF-8 never contains: `ab c` and `a bc` differ.
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn write_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    self.write(&format!("{:?}", group.delimiter()));
                    self.write_tokens(group.stream());
                    self.write("end");
                }
                TokenTree::Ident(ident) => self.write(&ident.to_string()),
                TokenTree::Punct(punct) => self.write(punct.as_char().encode_utf8(&mut [0; 4])),
                TokenTree::Literal(literal) => self.write(&literal.to_string()),
            }
        }
    }
}

/// The hash of an attribute and its function.
pub fn source_hash(attribute: TokenStream, function: TokenStream) -> u64 {
    let mut hasher = Hasher(0xcbf2_9ce4_8422_2325);
    hasher.write_tokens(attribute);
    hasher.write("function");
    hasher.write_tokens(function);
    hasher.0
}

#[cfg(test)]
mod tests {
    use super::source_hash;

    fn hash(attribute: &str, function: &str) -> u64 {
        source_hash(attribute.parse().unwrap(), function.parse().unwrap())
    }

    #[test]
    fn layout_does_not_matter() {
        assert_eq!(hash("runs=1", "fn f(){g(  )}"), hash("runs = 1", "fn f() {\n    g() // call\n}"));
    }

    #[test]
    fn every_token_matters() {
        let whole = hash("runs = 1", "fn f() { g(ab c) }");
        for (attribute, function) in [
            ("runs = 2", "fn f() { g(ab c) }"),
            ("runs = 1", "fn f() { h(ab c) }"),
            ("runs = 1", "fn f() { g(a bc) }"),
            ("runs = 1", "fn f() { g[ab c] }"),
            ("runs = 1", "fn f() { g(ab) c }"),
            ("runs = 1 fn", "f() { g(ab c) }"),
        ] {
            assert_ne!(hash(attribute, function), whole, "{attribute} {function}");
        }
    }
}
