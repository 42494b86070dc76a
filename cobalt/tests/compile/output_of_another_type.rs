use cobalt::Item;

struct Answer {
    text: String,
}

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(item: Item) -> Answer {
    Answer { text: item["input"].to_string() }
}

fn user(answer: Answer) -> String {
    answer.text
}

fn main() {}
