use cobalt::SummaryItem;

#[cobalt::summary]
fn outputs(item: &SummaryItem<'_>) -> f64 {
    item.score("concise").unwrap_or_default()
}

fn main() {}
