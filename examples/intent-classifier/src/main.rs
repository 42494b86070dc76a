//! Classifies a message: `cargo run -p intent-classifier -- my parcel is late`.

use std::path::Path;

use intent_classifier::{Classifier, TrainingError, decide};

fn main() -> Result<(), TrainingError> {
    let classifier = Classifier::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/training.tsv"))?;
    let message = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let ranking = classifier.rank(&message);
    println!("{}", decide(&ranking));
    for guess in ranking.iter().take(3) {
        println!("  {:<10}{:>5.1}%", guess.intent, guess.confidence * 100.0);
    }
    Ok(())
}
