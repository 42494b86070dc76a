//! Thresholds as calls of `cobalt::Threshold`.

use cobalt_thresholds::{Category, Metric};
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned as _;

use super::figure::Figure;
use super::{Bound, Threshold};
use crate::evaluators::Evaluators;
use crate::function::at;
use crate::library::Library;

impl Threshold {
    /// An expression of type `cobalt::Threshold`.
    pub(crate) fn expand(&self, evaluators: &Evaluators) -> TokenStream {
        let span = at(self.span);
        let category = self.figure.expand_category(evaluators);
        let metric = self.figure.expand_metric(evaluators.library());
        let library = evaluators.library();
        let comparison = Ident::new(&format!("{:?}", self.comparison), span);
        let (bound, label) = match &self.bound {
            Bound::Literal(value, text) => {
                (quote_spanned!(span=> #value), quote_spanned!(span=> .labelled(#text)))
            }
            Bound::Computed(expression) => {
                let place = at(expression.span());
                let convert = match self.figure.category {
                    Category::Latency if self.figure.metric != Metric::Ratio => {
                        quote_spanned!(place=> LatencyBound::latency_bound)
                    }
                    _ => quote_spanned!(place=> NumberBound::number_bound),
                };
                let library = library.at(place);
                let bound = quote_spanned!(place=> #library::private::threshold::#convert(#expression));
                (bound, TokenStream::new())
            }
        };
        let library = library.at(span);
        quote_spanned! {span=>
            #library::private::threshold::Threshold::new(
                #category,
                #metric,
                #library::private::threshold::Comparison::#comparison,
                #bound,
            )#label
        }
    }
}

impl Figure {
    fn expand_category(&self, evaluators: &Evaluators) -> TokenStream {
        let span = at(self.category_span);
        let library = evaluators.library().at(span);
        let category = quote_spanned!(span=> #library::private::threshold::Category);
        match (&self.category, &self.computed_name) {
            (Category::Evaluator(_), Some(name)) => {
                quote_spanned!(span=> #category::Evaluator(::core::convert::Into::into(#name)))
            }
            (Category::Evaluator(name), None) => {
                let name = evaluators.name_expression(name, self.bare, span);
                quote_spanned!(span=> #category::Evaluator(::std::borrow::ToOwned::to_owned(#name)))
            }
            (known, _) => {
                let variant = Ident::new(&format!("{known:?}"), span);
                quote_spanned!(span=> #category::#variant)
            }
        }
    }

    fn expand_metric(&self, library: &Library) -> TokenStream {
        let span = at(self.metric_span);
        let path = library.at(span);
        let metric = quote_spanned!(span=> #path::private::threshold::Metric);
        let mark = match (self.metric, &self.computed_mark) {
            (Metric::PassRate(_), Some(mark)) => {
                let place = at(mark.span());
                let library = library.at(place);
                let mark =
                    quote_spanned!(place=> #library::private::threshold::NumberBound::number_bound(#mark));
                quote_spanned!(span=> (::core::option::Option::Some(#mark)))
            }
            (Metric::PassRate(Some(mark)), None) => {
                quote_spanned!(span=> (::core::option::Option::Some(#mark)))
            }
            (Metric::PassRate(None), None) => quote_spanned!(span=> (::core::option::Option::None)),
            _ => TokenStream::new(),
        };
        let variant = match self.metric {
            Metric::Avg => "Avg",
            Metric::Min => "Min",
            Metric::Max => "Max",
            Metric::P50 => "P50",
            Metric::P95 => "P95",
            Metric::P99 => "P99",
            Metric::PassRate(_) => "PassRate",
            Metric::Total => "Total",
            Metric::Drop => "Drop",
            Metric::Rise => "Rise",
            Metric::Ratio => "Ratio",
        };
        let variant = Ident::new(variant, span);
        quote_spanned!(span=> #metric::#variant #mark)
    }
}
