use cobalt::SummaryItem;

#[cobalt::summary]
fn outputs(items: &[SummaryItem<'_>]) -> &'static str {
    if items.is_empty() { "none" } else { "some" }
}

fn main() {}
