//! `Similarity` against the original's evaluator of that name.

use cobalt::{Distance, EvalContext, Output, Score, Similarity};

use crate::case::{Case, Checked};
use crate::judged::evaluated;
use crate::scripted;

pub(crate) fn check(case: &Case) -> Checked {
    let input = case.input();
    let config = &input["config"];
    let server = scripted::serve(case);
    let mut evaluator =
        Similarity::new("case", config["field"].as_str().ok_or("no field")?).base_url(server.url(""));
    if config["distance"] == "dot" {
        evaluator = evaluator.distance(Distance::Dot);
    }
    if let Some(threshold) = config["threshold"].as_f64() {
        evaluator = evaluator.threshold(threshold);
    }
    if input["apiKey"].is_null() {
        evaluator = evaluator.api_key_env("A_VARIABLE_THAT_IS_NOT_SET");
    }
    let item = input["item"].as_object().ok_or("no item")?.clone();
    let cx = EvalContext::new(item, Output::new(input["output"].clone()));
    case.check_score(evaluated(&evaluator, &cx).as_ref().map(Score::value).map_err(Clone::clone))
}
