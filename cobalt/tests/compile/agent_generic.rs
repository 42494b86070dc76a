
#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent<T: Into<String>>(item: T) -> String {
    item.into()
}

fn main() {}
