//! Whether data sets that come from elsewhere are fetched, as tools are asked.

use crate::error::Error;

/// The flags of `cargo cobalt` for it.
pub fn fetching(refresh: bool, offline: bool) -> Result<Vec<String>, Error> {
    if refresh && offline {
        return Err(Error::Arguments(
            "`refresh` cannot stand beside `offline`: one fetches data sets, and the other does not; leave one of them out"
                .to_owned(),
        ));
    }
    let flags = [(refresh, "--refresh"), (offline, "--offline")];
    Ok(flags.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, flag)| flag.to_owned()).collect())
}
