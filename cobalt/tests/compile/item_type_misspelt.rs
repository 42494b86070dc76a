use serde::Deserialize;

#[derive(Deserialize)]
struct Question {
    input: String,
}

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(question: Qestion) -> String {
    question.input
}

fn user(question: Question) -> String {
    question.input
}

fn main() {
    user(Question { input: String::new() });
}
