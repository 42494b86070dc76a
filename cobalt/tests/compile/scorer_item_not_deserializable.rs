struct Question {
    answer: String,
}

#[cobalt::evaluator]
fn correct(question: &Question, output: &str) -> bool {
    output.contains(&question.answer)
}

fn main() {}
