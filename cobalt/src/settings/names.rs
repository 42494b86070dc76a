//! What is chosen from a few names: read with the nearest name in the error.

/// What has a name that settings choose it by.
pub trait Name: Copy + 'static {
    /// All that there are.
    const ALL: &'static [Self];

    /// The name.
    fn name(self) -> &'static str;
}

/// Makes a type that is read from a name, around an enum with a variant for each, which gets the name. An error says that it
/// is to be "a `$noun` in quotes", with `$before` in front of it where there is one.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($type:ident), $noun:literal, $plural:literal $(, $before:literal)?: $($word:literal => $variant:ident),+ $(,)?;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
        pub struct $name(pub(crate) $type);

        impl crate::settings::Name for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read = |name: &str| match name {
                    $($word => Ok(Self($type::$variant)),)+
                    _ => Err(cobalt_core::wording::unknown_name($noun, $plural, name, &[$($word),+])),
                };
                let expected = concat!($($before,)? "a ", $noun, " in quotes");
                deserializer.deserialize_str(crate::settings::Text { expected, read })
            }
        }
    )+};
}

pub(crate) use names;

/// Checks that all are written by the names that they are read by.
#[cfg(test)]
pub fn assert_written_as_read<T: Name + serde::Serialize>() {
    for named in T::ALL {
        assert_eq!(serde_json::to_value(named).unwrap(), named.name());
    }
}
