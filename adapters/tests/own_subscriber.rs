//! A process with a subscriber of its own, which has Cobalt's layer beside others.

use std::io;
use std::sync::{Arc, Mutex};

use cobalt::{Dataset, ExactMatch, Experiment, Item, item, trace};
use tracing::{info, info_span};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn its_other_layers_and_cobalts_see_the_same_spans() {
    let log = Log::default();
    let written = log.clone();
    let lines = fmt::layer().with_ansi(false).with_writer(move || written.clone());
    tracing_subscriber::registry().with(lines).with(trace::layer()).init();
    assert!(!trace::install(), "there is one already");

    let agent = |item: Item| {
        let _call = info_span!("chat", gen_ai.request.model = "m", gen_ai.usage.input_tokens = 7).entered();
        info!("asked");
        item["input"].to_string()
    };
    let dataset = Dataset::from_items([item! { "input": "a" }, item! { "input": "b" }]);
    let experiment = Experiment::new("logged", dataset).evaluator(ExactMatch::new("exact", "input"));
    let report = experiment.save(false).run(agent).await.unwrap();
    for item in &report.items {
        let trace = &item.runs[0].trace;
        let names: Vec<_> = trace.into_iter().map(|span| &*span.name).collect();
        assert_eq!(names, ["chat"]);
        assert_eq!(trace.model_calls().next().unwrap().1.tokens.unwrap().input, 7);
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("chat{gen_ai.request.model=\"m\"").count(), 2, "{log}");
}
