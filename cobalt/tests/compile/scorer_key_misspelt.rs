#[cobalt::evaluator(pas_mark = 0.7)]
fn concise(output: &str) -> bool {
    output.len() < 80
}

fn main() {}
