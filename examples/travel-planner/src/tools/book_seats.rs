//! Books seats on a train. This is an example: nothing is kept, and each booking finds the seats of the timetable.

use serde::Serialize;

use super::{Tool, ToolError};
use crate::clock::Day;
use crate::records::Records;

/// The arguments: which train, when, and for how many.
#[derive(Debug, Serialize)]
pub(crate) struct BookSeats {
    pub(crate) train: String,
    pub(crate) day: Day,
    pub(crate) seats: u32,
}

impl Tool for BookSeats {
    const NAME: &'static str = "book_seats";
    /// The reference of the booking.
    type Answer = String;

    fn call(&self, records: &Records) -> Result<String, ToolError> {
        let Self { train, day, seats } = self;
        let found = records.trains.iter().find(|found| found.train == *train && !found.not_on.contains(day));
        let found = found.ok_or_else(|| ToolError::DoesNotRun { train: train.clone(), day: *day })?;
        if found.seats < *seats {
            return Err(ToolError::TooFewSeats { train: train.clone(), day: *day, left: found.seats });
        }
        Ok(format!("{train}-{day}-{seats}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::example;

    fn book(train: &str, day: Day, seats: u32) -> Result<String, ToolError> {
        BookSeats { train: train.to_owned(), day, seats }.call(&example())
    }

    #[test]
    fn a_booking_has_a_reference() {
        assert_eq!(book("LY2", Day::Friday, 2).unwrap(), "LY2-Friday-2");
    }

    #[test]
    fn the_last_seat_can_be_booked_and_no_more() {
        assert!(book("LY3", Day::Friday, 1).is_ok());
        let error = book("LY3", Day::Friday, 2).unwrap_err();
        assert_eq!(error.to_string(), "too few seats are free in train LY3 on Friday: 1");
    }

    #[test]
    fn a_train_must_exist_and_run_on_the_day() {
        assert!(matches!(book("XX1", Day::Friday, 1), Err(ToolError::DoesNotRun { .. })));
        assert!(matches!(book("LY1", Day::Sunday, 1), Err(ToolError::DoesNotRun { .. })));
    }
}
