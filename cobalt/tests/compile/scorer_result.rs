#[cobalt::evaluator]
fn concise(output: &str) -> Option<bool> {
    Some(output.len() < 80)
}

fn main() {}
