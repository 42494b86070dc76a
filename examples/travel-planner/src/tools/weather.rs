//! Looks up the forecast.

use serde::Serialize;

use super::{Tool, ToolError};
use crate::clock::Day;
use crate::records::Records;

/// The arguments: where and when.
#[derive(Debug, Serialize)]
pub(crate) struct Weather {
    pub(crate) place: String,
    pub(crate) day: Day,
}

/// What the day will be like, with temperatures in °C.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Outlook {
    pub(crate) sky: String,
    pub(crate) low: i32,
    pub(crate) high: i32,
}

impl Tool for Weather {
    const NAME: &'static str = "weather";
    type Answer = Outlook;

    fn call(&self, records: &Records) -> Result<Outlook, ToolError> {
        let forecast = records.forecast.iter().find(|f| f.place == self.place && f.day == self.day);
        let forecast =
            forecast.ok_or_else(|| ToolError::NoForecast { place: self.place.clone(), day: self.day })?;
        Ok(Outlook { sky: forecast.sky.clone(), low: forecast.low, high: forecast.high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Forecast, Records};

    fn weather(day: Day) -> Result<Outlook, ToolError> {
        let forecast =
            Forecast { place: "York".into(), day: Day::Friday, sky: "light rain".into(), low: 6, high: 14 };
        let records = Records { trains: Vec::new(), forecast: vec![forecast], rates: [].into() };
        Weather { place: "York".to_owned(), day }.call(&records)
    }

    #[test]
    fn the_forecast_is_that_of_the_place_and_the_day() {
        assert_eq!(weather(Day::Friday).unwrap(), Outlook { sky: "light rain".into(), low: 6, high: 14 });
    }

    #[test]
    fn a_day_without_a_forecast_is_an_error() {
        let error = weather(Day::Monday).unwrap_err();
        assert_eq!(error.to_string(), "there is no forecast for York on Monday");
    }
}
