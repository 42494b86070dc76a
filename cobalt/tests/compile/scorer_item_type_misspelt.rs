use cobalt::Item;

#[cobalt::evaluator]
fn correct(item: &Itme, output: &str) -> bool {
    item.contains_key(output)
}

fn main() {
    drop(Item::new());
}
