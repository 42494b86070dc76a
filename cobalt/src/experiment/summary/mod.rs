//! Summary functions: metrics and tables of the whole run, calculated from all items.

mod item;
mod output;

use std::fmt;
use std::sync::Arc;

pub use item::SummaryItem;
pub use output::{IntoSummary, SummaryOutput};

/// Calculates the output of the items with these indexes.
pub type OutputOf<'a> = Box<dyn Fn(&[usize]) -> Result<SummaryOutput, String> + 'a>;

type SummaryFn = Arc<dyn for<'a> Fn(&'a [SummaryItem<'a>]) -> OutputOf<'a> + Send + Sync>;

/// A summary function as a value: calculates metrics or tables from all items of a run.
///
/// The attribute [`summary`](macro@crate::summary) makes one from a function. Add it with
/// [`Experiment::summary`](crate::Experiment::summary), or list it in the attribute [`experiment`](macro@crate::experiment).
///
/// ```
/// use cobalt::FnSummary;
/// use cobalt::metrics::macro_f1;
///
/// let f1 = FnSummary::new("macro_f1", |items| {
///     macro_f1(items.iter().map(|it| (it.item()["label"].as_str().unwrap_or_default(), it.output_text())))
/// });
/// ```
#[derive(Clone)]
pub struct FnSummary {
    name: String,
    function: SummaryFn,
}

impl FnSummary {
    /// Creates a summary from a function of all items. It is also called with resamples of the items, for the 95% CI of its metrics.
    pub fn new<R: IntoSummary>(
        name: impl Into<String>,
        function: impl Fn(&[SummaryItem<'_>]) -> R + Send + Sync + 'static,
    ) -> Self {
        let function = Arc::new(function);
        Self {
            name: name.into(),
            function: Arc::new(move |items| {
                let function = Arc::clone(&function);
                Box::new(move |indexes| {
                    let drawn: Vec<_> = indexes.iter().map(|index| items[*index]).collect();
                    function(&drawn).into_summary()
                })
            }),
        }
    }

    /// Creates a summary from a function of each item, which is called once per item, and one that combines what it returned. Use it if
    /// the first one takes most of the time: only the second one is called for each resample.
    ///
    /// ```
    /// use cobalt::FnSummary;
    /// use cobalt::metrics::Bleu;
    ///
    /// let bleu = FnSummary::by_item(
    ///     "corpus_bleu",
    ///     |it| Bleu::CORPUS.score(it.output_text(), &[it.item()["translation"].as_str().unwrap_or_default()]),
    ///     |scores| Bleu::CORPUS.combine(scores.iter().copied()).score,
    /// );
    /// ```
    pub fn by_item<T: 'static, R: IntoSummary>(
        name: impl Into<String>,
        of_item: impl Fn(&SummaryItem<'_>) -> T + Send + Sync + 'static,
        combine: impl Fn(&[&T]) -> R + Send + Sync + 'static,
    ) -> Self {
        let combine = Arc::new(combine);
        Self {
            name: name.into(),
            function: Arc::new(move |items| {
                let combine = Arc::clone(&combine);
                let parts: Vec<T> = items.iter().map(&of_item).collect();
                Box::new(move |indexes| {
                    let drawn: Vec<_> = indexes.iter().map(|index| &parts[*index]).collect();
                    combine(&drawn).into_summary()
                })
            }),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prepares the calculation.
    pub(crate) fn prepare<'a>(&self, items: &'a [SummaryItem<'a>]) -> OutputOf<'a> {
        (self.function)(items)
    }
}

impl fmt::Debug for FnSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnSummary").field("name", &self.name).finish_non_exhaustive()
    }
}
