#[cobalt::evaluator(pass_mark = 70)]
fn concise(output: &str) -> bool {
    output.len() < 80
}

fn main() {}
