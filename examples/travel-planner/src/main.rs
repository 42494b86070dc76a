//! Asks the travel planner: `cargo run -p travel-planner -- weather in York on Friday`.

use travel_planner::Planner;

fn main() -> serde_json::Result<()> {
    let planner = Planner::new()?;
    let request = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", serde_json::to_string_pretty(&planner.answer(&request))?);
    Ok(())
}
