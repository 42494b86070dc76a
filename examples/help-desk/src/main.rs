//! Asks the help desk a question: `cargo run -p help-desk -- how do I park`.

use std::path::Path;

use help_desk::HelpDesk;

fn main() -> std::io::Result<()> {
    let desk = HelpDesk::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("articles"))?;
    let question = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", desk.answer(&question).text);
    Ok(())
}
