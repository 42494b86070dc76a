//! What is chosen from a few names: read with the nearest name in the error.

/// Makes a type that is read from a name, around an enum with a variant for each.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($type:ident), $noun:literal, $plural:literal: $($word:literal => $variant:ident),+ $(,)?;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
        pub struct $name(pub(crate) $type);

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read = |name: &str| match name {
                    $($word => Ok(Self($type::$variant)),)+
                    _ => Err(cobalt_core::wording::unknown_name($noun, $plural, name, &[$($word),+])),
                };
                let expected = concat!("a ", $noun, " in quotes");
                deserializer.deserialize_str(crate::settings::Text { expected, read })
            }
        }
    )+};
}

pub(crate) use names;
