//! Items that are alike: equal, with equal inputs, or nearly so.

use cobalt::wording::decimal;

use super::finding::{Check, Finding, Place};
use super::items::Items;
use crate::datasets::duplicates::{Likeness, equal_inputs, expected, likeness, near_inputs};

/// Groups of items with equal inputs.
pub(super) fn equal(items: &Items<'_>) -> Vec<Finding> {
    let all = &items.items;
    let finding = |group: Vec<usize>| match likeness(group.iter().map(|index| all[*index])) {
        Likeness::Items => {
            let message = format!("{} items are equal", group.len());
            Finding::new(Check::Duplicate, message, items.places(&group))
        }
        Likeness::Inputs => {
            let message = format!("{} items ask the same, and differ in other fields", group.len());
            Finding::new(Check::Duplicate, message, items.places(&group))
        }
        Likeness::Conflict => {
            let place = |index: &usize| items.place(*index, expected(all[*index]));
            let message = format!("{} items ask the same, and expect different outputs", group.len());
            Finding::new(Check::Conflict, message, group.iter().map(place).collect())
        }
    };
    equal_inputs(all).into_iter().map(finding).collect()
}

/// Groups of items whose inputs are nearly the same.
pub(super) fn near(items: &Items<'_>, bound: f64) -> Vec<Finding> {
    let groups = near_inputs(&items.items, bound).into_iter();
    groups
        .map(|group| {
            let place = |index: usize, similarity: Option<f64>| {
                let value = items.items[index].get("input");
                Place { similarity, ..items.place(index, value) }
            };
            let others = group.others.iter().map(|(index, similarity)| place(*index, Some(*similarity)));
            let places: Vec<_> = std::iter::once(place(group.first, None)).chain(others).collect();
            let least = group.others.iter().map(|(_, similarity)| *similarity).fold(1.0, f64::min);
            let least = decimal((least * 1000.0).floor() / 10.0, 1);
            let message = format!("{} items ask nearly the same ({least} % alike)", places.len());
            Finding::new(Check::NearDuplicate, message, places)
        })
        .collect()
}
