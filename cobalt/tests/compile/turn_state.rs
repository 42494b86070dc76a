#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(_: &mut cobalt::Chat<NoDefault>, message: &str) -> String {
    message.to_owned()
}

struct NoDefault;

fn main() {}
