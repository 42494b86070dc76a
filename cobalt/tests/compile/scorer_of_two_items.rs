use cobalt::Item;

#[cobalt::evaluator]
fn correct(item: &Item, answer: &str) -> bool {
    item["expected"] == answer
}

fn main() {}
