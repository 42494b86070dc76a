//! Asks the research agent: `cargo run -p model-server -- cargo run -p research-agent -- When did the Forth Bridge open?`

use std::io::Write as _;

use research_agent::ResearchAgent;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let question = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let print = |text: &str| {
        print!("{text}");
        drop(std::io::stdout().flush());
    };
    ResearchAgent::from_env().answer(&question, print).await?;
    println!();
    Ok(())
}
