use cobalt::Item;

#[cobalt::experiment()]
async fn agent(item: Item) -> String {
    item["input"].to_string()
}

fn main() {}
