//! Items written in code.

/// An [`Item`](crate::Item) written as JSON; values may be expressions, as in [`serde_json::json!`].
///
/// ```
/// let n = 3;
/// let item = cobalt::item! { "input": "2 + 2", "n": n, "list": [1, 2], "nested": { "ok": true } };
/// assert_eq!(item["n"], 3);
/// assert_eq!(item["nested"]["ok"], true);
/// ```
#[macro_export]
macro_rules! item {
    ($($field:tt)*) => {
        match $crate::private::serde_json::json!({ $($field)* }) {
            $crate::private::serde_json::Value::Object(item) => item,
            _ => ::core::unreachable!("an object literal makes an object"),
        }
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_item_is_written_as_json() {
        let item = crate::item! { "input": "2 + 2", "n": 1 + 2, "list": [1, 2], };
        assert_eq!(serde_json::to_string(&item).unwrap(), r#"{"input":"2 + 2","n":3,"list":[1,2]}"#);
    }

    #[test]
    fn an_item_may_have_no_fields() {
        assert!(crate::item! {}.is_empty());
    }
}
