//! Searches the timetable for direct trains.

use serde::Serialize;

use super::{Tool, ToolError, to_pennies};
use crate::clock::{Day, Time};
use crate::records::Records;

/// The arguments: where and when to travel, and for how many.
#[derive(Debug, Serialize)]
pub(crate) struct SearchTrains {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) day: Day,
    pub(crate) seats: u32,
    /// The train departs at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Time>,
    /// The train departs at this time or sooner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Time>,
}

/// A train that fits. Whether seats are free shows when they are booked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Offer {
    pub(crate) train: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) day: Day,
    pub(crate) departs: Time,
    pub(crate) arrives: Time,
    /// For all travellers, in pounds.
    pub(crate) price: f64,
}

impl Tool for SearchTrains {
    const NAME: &'static str = "search_trains";
    type Answer = Vec<Offer>;

    fn call(&self, records: &Records) -> Result<Vec<Offer>, ToolError> {
        let Self { from, to, day, .. } = self;
        let route: Vec<_> =
            records.trains.iter().filter(|train| train.from == *from && train.to == *to).collect();
        if route.is_empty() {
            return Err(ToolError::NoRoute { from: from.clone(), to: to.clone() });
        }
        let fits = |departs: Time| {
            self.after.is_none_or(|after| departs >= after)
                && self.before.is_none_or(|before| departs <= before)
        };
        let mut offers: Vec<Offer> = route
            .into_iter()
            .filter(|train| !train.not_on.contains(day) && fits(train.departs))
            .map(|train| Offer {
                train: train.train.clone(),
                from: from.clone(),
                to: to.clone(),
                day: *day,
                departs: train.departs,
                arrives: train.arrives,
                price: to_pennies(train.fare * f64::from(self.seats)),
            })
            .collect();
        if offers.is_empty() {
            return Err(ToolError::NoTrain { from: from.clone(), to: to.clone(), day: *day });
        }
        offers.sort_by_key(|offer| offer.departs);
        Ok(offers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::example;

    fn search(from: &str, to: &str, day: Day, after: Option<Time>) -> Result<Vec<Offer>, ToolError> {
        let (from, to) = (from.to_owned(), to.to_owned());
        SearchTrains { from, to, day, seats: 2, after, before: None }.call(&example())
    }

    #[test]
    fn the_price_is_for_all_travellers() {
        assert_eq!(search("Leeds", "York", Day::Friday, None).unwrap()[0].price, 28.4);
    }

    #[test]
    fn a_train_that_does_not_run_on_the_day_is_no_offer() {
        let weekday = search("Leeds", "York", Day::Friday, None).unwrap();
        let sunday = search("Leeds", "York", Day::Sunday, None).unwrap();
        let trains = |offers: &[Offer]| offers.iter().map(|offer| offer.train.clone()).collect::<Vec<_>>();
        assert_eq!(trains(&weekday)[1..], trains(&sunday));
    }

    #[test]
    fn a_train_may_depart_at_the_very_time() {
        let offers = search("Leeds", "York", Day::Friday, Time::new(17, 25)).unwrap();
        assert_eq!(offers.iter().map(|offer| &*offer.train).collect::<Vec<_>>(), ["LY4", "LY5"]);
    }

    #[test]
    fn no_route_is_told_from_no_train_on_the_day() {
        let error = search("York", "Paris", Day::Friday, None).unwrap_err();
        assert!(matches!(error, ToolError::NoRoute { .. }), "{error}");
        let error = search("Newcastle", "Edinburgh", Day::Sunday, None).unwrap_err();
        assert!(matches!(error, ToolError::NoTrain { .. }), "{error}");
    }
}
