//! Budgets under concurrency: how much is spent, and what is kept.

use std::fs;

use serde_json::{Value, json};

use crate::model::Model;
use crate::sandbox::{Finished, Program, Sandbox, fixture};

/// More than run at once.
const ITEMS: usize = 66;
const BUDGET: f64 = 2.0;
/// An input token costs 1/40,000 dollar, so that each request costs one dollar.
const PRICE: &str = "{ input = 25, output = 0 }";
const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

/// A project with items for an experiment, and a model that costs a dollar a request.
struct Scene {
    sandbox: Sandbox,
    model: Model,
    kind: &'static str,
    requests: usize,
}

impl Scene {
    fn new(kind: &'static str, requests: usize) -> Self {
        let item = |number: usize| match kind {
            // A check of the conversation's end is another request.
            "simulated" => {
                json!({ "id": format!("i{number}"), "goal": format!("goal {number}"), "maxTurns": requests - 1 })
            }
            _ => json!({ "id": format!("i{number}"), "input": format!("question {number:03}") }),
        };
        let sandbox = Sandbox::with_items((0..ITEMS).map(item));
        sandbox.write(
            "cobalt.toml",
            &format!("[prices]\n\"gpt-4o-mini\" = {PRICE}\n\"gpt-6-luna\" = {PRICE}\n"),
        );
        Self { sandbox, model: Model::start(), kind, requests }
    }

    fn program(&self, concurrency: usize) -> Program {
        let program = self.sandbox.program(fixture!("budgeted")).env("NO_PROXY", "127.0.0.1");
        program
            .args([self.kind])
            .env(&format!("E2E_{}", self.kind.to_uppercase()), 1)
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_API_KEY", KEY)
            .env("E2E_HOST", self.model.base_url())
            .env("E2E_REQUESTS", self.requests)
            .env("E2E_CONCURRENCY", concurrency)
    }

    /// The answers of the model in the recordings.
    fn recorded(&self) -> usize {
        let folder = self.sandbox.path(&format!("cassettes/{}", self.kind));
        let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
        let read = |path| serde_json::from_str::<Value>(&fs::read_to_string(path).unwrap()).unwrap();
        let count = |trial: &Value, list: &str| trial[list].as_array().map_or(0, Vec::len);
        let in_trial = |trial: &Value| count(trial, "interactions") + count(trial, "judges");
        files
            .map(read)
            .flat_map(|cassette| cassette["trials"].as_array().unwrap().clone())
            .map(|trial| in_trial(&trial))
            .sum()
    }
}

/// What a run with a budget spent and kept.
struct Outcome {
    spent: usize,
    kept_items: usize,
    recorded: usize,
    /// The payments in the journal, in USD.
    paid: f64,
    finished: Finished,
}

fn spend_budget(scene: &Scene, concurrency: usize) -> Outcome {
    let finished = scene.program(concurrency).env("COBALT_MAX_COST", BUDGET).run().code(5);
    let journal = &scene.sandbox.journals()[0];
    let journal = cobalt::files::read_journal(&fs::read(journal).unwrap()).unwrap();
    let (kept_items, paid) = (journal.items.len(), journal.payments.total());
    let outcome =
        Outcome { spent: scene.model.asked(), kept_items, recorded: scene.recorded(), paid, finished };
    println!(
        "{:10} {:2} requests, concurrency {concurrency:2}: ${} of ${BUDGET} spent, {} items kept, {} answers recorded, ${} in the journal",
        scene.kind, scene.requests, outcome.spent, outcome.kept_items, outcome.recorded, outcome.paid
    );
    outcome
}

#[test]
fn concurrent_items_stay_within_budget() {
    for (kind, requests, kept_items) in [
        ("asked", 1, 2),
        ("asked", 3, 0),
        ("judged", 1, 2),
        ("judged", 3, 0),
        ("simulated", 2, 1),
        ("simulated", 3, 0),
    ] {
        for concurrency in [1, 16, 64] {
            let scene = Scene::new(kind, requests);
            let outcome = spend_budget(&scene, concurrency);
            assert_eq!(outcome.spent, 2, "{}", outcome.finished);
            let kept = (outcome.kept_items, outcome.recorded, outcome.paid);
            assert_eq!(kept, (kept_items, 2, 2.0), "{}", outcome.finished);
            let id = scene.sandbox.cut_short();
            outcome.finished.stderr_has(&[
                "budget of $2.00 exhausted: $2.00 spent; ",
                "$2.00 paid so far",
                &id,
            ]);
            if concurrency == 16 {
                scene.program(concurrency).env("COBALT_RESUME", id).run().code(0);
                assert_eq!(scene.model.asked(), requests * ITEMS, "nothing is paid twice");
            }
        }
    }
}

#[test]
fn late_reports_overshoot_by_one_item() {
    for (requests, spent, kept_items) in [(1, 2, 2), (3, 3, 1)] {
        for concurrency in [1, 16, 64] {
            let scene = Scene::new("reported", requests);
            let outcome = spend_budget(&scene, concurrency);
            let kept = (outcome.spent, outcome.kept_items, outcome.paid);
            assert_eq!(kept, (spent, kept_items, spent as f64), "{}", outcome.finished);
            let text = format!("${spent}.00");
            outcome.finished.stderr_has(&[&format!("{text} spent; "), &format!("{text} paid so far")]);
        }
    }
}
