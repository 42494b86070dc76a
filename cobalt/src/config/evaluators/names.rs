//! What is chosen from a few names: read with the nearest name in the error.

use serde::de::{Deserialize, Deserializer};
use serde::{Serialize, Serializer};

use crate::evaluators::{
    Aggregate, AutoevalKind, CallCheck, Distance, Measure, Preset, Quantity, RougeVariant, Scoring,
};
use crate::settings::Text;
use crate::suggest::unknown_name;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($type:ident), $noun:literal, $plural:literal: $($word:literal => $variant:ident),+;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
        pub(in crate::config) struct $name(pub(super) $type);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read = |name: &str| match name {
                    $($word => Ok(Self($type::$variant)),)+
                    _ => Err(unknown_name($noun, $plural, name, &[$($word),+])),
                };
                deserializer.deserialize_str(Text { expected: concat!("a ", $noun, " in quotes"), read })
            }
        }
    )+};
}

names! {
    /// What a judge answers with.
    ScoringName(Scoring), "way of scoring", "ways": "boolean" => Boolean, "scale" => Scale;
    /// How the scores of several judges become one.
    AggregateName(Aggregate), "way to sum up a panel", "ways": "mean" => Mean, "majority" => Majority;
    /// How two embeddings are compared.
    DistanceName(Distance), "distance", "distances": "cosine" => Cosine, "dot" => Dot;
    /// How many of several texts an output is to contain.
    QuantityName(Quantity), "quantity", "quantities": "all" => All, "any" => Any, "none" => None;
    /// What ROUGE counts.
    RougeName(RougeVariant), "variant of ROUGE", "variants": "1" => One, "2" => Two, "l" => L, "lsum" => Lsum;
    /// Which figure of an overlap is the score.
    MeasureName(Measure), "measure", "measures": "f1" => F1, "precision" => Precision, "recall" => Recall;
    /// What is asked of calls.
    CallCheckName(CallCheck), "check of calls", "checks": "called" => Called, "not-called" => NotCalled,
        "exact-order" => ExactOrder, "in-order" => InOrder, "any-order" => AnyOrder, "arguments" => Arguments,
        "precision" => Precision, "recall" => Recall, "f1" => F1, "succeeded" => Succeeded, "at-most" => AtMost,
        "repeats-at-most" => RepeatsAtMost;
}

/// A judge whose question comes with the library.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
pub(in crate::config) struct PresetName(pub(super) Preset);

impl PresetName {
    pub(super) fn known() -> [&'static str; Preset::ALL.len()] {
        Preset::ALL.map(Preset::name)
    }
}

impl<'de> Deserialize<'de> for PresetName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |name: &str| {
            let known = Preset::ALL.into_iter().find(|preset| preset.name() == name);
            known.map(Self).ok_or_else(|| unknown_name("preset", "presets", name, &Self::known()))
        };
        deserializer.deserialize_str(Text { expected: "the name of a preset in quotes", read })
    }
}

/// A kind of `Autoeval`.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct KindName(pub(super) AutoevalKind);

impl<'de> Deserialize<'de> for KindName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |name: &str| name.parse().map(Self).map_err(|unknown| format!("{unknown}"));
        deserializer
            .deserialize_str(Text { expected: "the name of a kind in quotes, such as \"Factuality\"", read })
    }
}

impl Serialize for KindName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}
