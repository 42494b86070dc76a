
struct Question {
    input: String,
}

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(question: Question) -> String {
    question.input
}

fn main() {}
