//! Finds the station that a misspelt name means.

use serde::Serialize;

use super::{Tool, ToolError};
use crate::records::Records;

/// One letter in three may be wrong.
const LETTERS_FOR_A_SLIP: usize = 3;

/// The arguments: a name as the traveller wrote it.
#[derive(Debug, Serialize)]
pub(crate) struct FindStation {
    pub(crate) name: String,
}

impl Tool for FindStation {
    const NAME: &'static str = "find_station";
    type Answer = String;

    fn call(&self, records: &Records) -> Result<String, ToolError> {
        let name = self.name.to_lowercase();
        let slips = |station: &str| strsim::damerau_levenshtein(&name, &station.to_lowercase());
        let nearest = records.stations().into_iter().min_by_key(|station| slips(station));
        nearest
            .filter(|station| slips(station) <= name.chars().count() / LETTERS_FOR_A_SLIP)
            .map(str::to_owned)
            .ok_or_else(|| ToolError::UnknownStation(self.name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::example;

    fn find(name: &str) -> Result<String, ToolError> {
        FindStation { name: name.to_owned() }.call(&example())
    }

    #[test]
    fn a_misspelt_name_is_taken_for_the_nearest_station() {
        assert_eq!(find("Leads").unwrap(), "Leeds");
        assert_eq!(find("Edinborough").unwrap(), "Edinburgh");
        assert_eq!(find("brsitol").unwrap(), "Bristol");
    }

    #[test]
    fn a_name_that_is_near_to_no_station_is_unknown() {
        assert_eq!(find("Atlantis").unwrap_err().to_string(), "no station is called Atlantis");
    }
}
