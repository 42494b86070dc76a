//! Conditions for `skip_serializing_if`.

/// Whether a number is 0.
pub fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
