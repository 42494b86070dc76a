//! Asks the support agent: `cargo run -p model-server -- cargo run -p support-agent -- "Where is T-1002?"`.

use support_agent::SupportAgent;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let message = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", SupportAgent::from_env()?.answer(&message).await?);
    Ok(())
}
