use cobalt::Item;

#[cobalt::evaluator]
fn concise(output: &str) -> bool {
    output.len() < 80
}

fn path() -> Option<&'static str> {
    None
}

#[cobalt::experiment(dataset = path()?, evaluators = [concise])]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
