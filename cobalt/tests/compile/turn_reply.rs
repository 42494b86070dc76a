#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::experiment(dataset = "questions.jsonl", evaluators = [concise])]
async fn agent(chat: &mut cobalt::Chat, message: &str) -> usize {
    chat.turn() + message.len()
}

fn main() {}
