//! Asks the travel planner: `cargo run -p travel-planner -- weather in York on Friday`.

use std::path::Path;

use travel_planner::{Day, Planner};

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    // The day on which the week of the timetable and of the forecast begins.
    let planner = Planner::open(&folder, Day::Wednesday)?;
    let request = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", serde_json::to_string_pretty(&planner.answer(&request))?);
    Ok(())
}
