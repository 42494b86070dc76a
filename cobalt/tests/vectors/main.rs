//! Shared test vectors: the results of other implementations for the same inputs.
//!
//! The directory is `COBALT_VECTORS`, else `vectors` in `COBALT_SHARED`, else `shared/vectors` next to the workspace; without one, all
//! tests are skipped. Each file is one test case; its row in [`files`] names the check for its lines. A file or an evaluator without a
//! row, or an asserted line that is not run, fails.

mod case;
mod cost;
mod files;
mod folder;
mod judged;
mod metrics;
mod scripted;
#[path = "../../src/http/test_server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod scripted_server;
mod similarity;
mod stats;
mod surroundings;
mod template;
#[path = "../../src/llm/test_server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod test_server;
mod text;
mod translations;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The library's test server.
mod http {
    pub(crate) use crate::scripted_server as test_server;
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let Some(folder) = folder::folder() else {
        println!("skipped: no vectors found; set COBALT_VECTORS to their folder");
        return libtest_mimic::run(&args, Vec::new()).exit_code();
    };
    if !args.list && !surroundings::are_ours() {
        return surroundings::again();
    }
    let mut trials: Vec<Trial> = files::names(&folder)
        .into_iter()
        .map(|name| {
            let path = folder.join(&name);
            Trial::test(name.clone(), move || files::check(&name, &path).map_err(Into::into))
        })
        .collect();
    if let Some(prices) = cost::originals_prices(&folder) {
        trials.push(Trial::test("model_prices.json", move || {
            cost::prices_differ_where_known(&prices).map_err(Into::into)
        }));
    }
    libtest_mimic::run(&args, trials).exit_code()
}
