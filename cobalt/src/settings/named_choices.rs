//! Values chosen from a fixed set of names; errors suggest the closest name.

/// A value that settings choose by name.
pub trait NamedChoice: Copy + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// The name.
    fn name(self) -> &'static str;
}

/// Defines a type that deserializes from a name, as a wrapper of an enum with one variant per name. Errors say that "a `$noun` in
/// quotes" is expected, with the prefix `$before`, if given.
macro_rules! named_choices {
    ($($(#[$doc:meta])* $name:ident($type:ident), $noun:literal, $plural:literal $(, $before:literal)?: $($word:literal => $variant:ident),+ $(,)?;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
        pub struct $name(pub(crate) $type);

        impl crate::settings::NamedChoice for $type {
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
                    _ => Err(cobalt_core::wording::unknown_name_message($noun, $plural, name, &[$($word),+])),
                };
                let expected = concat!($($before,)? "a ", $noun, " in quotes");
                deserializer.deserialize_str(crate::settings::StringVisitor { expected, read })
            }
        }
    )+};
}

pub(crate) use named_choices;

/// Checks that all values serialize to the names that they deserialize from.
#[cfg(test)]
pub fn assert_round_trip<T: NamedChoice + serde::Serialize>() {
    for named in T::ALL {
        assert_eq!(serde_json::to_value(named).unwrap(), named.name());
    }
}
