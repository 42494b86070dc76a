#[cobalt::evaluator]
fn concise(output: &str) {
    assert!(output.len() < 80);
}

fn main() {}
