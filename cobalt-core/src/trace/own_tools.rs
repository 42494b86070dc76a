//! Calls of wrapped tools that an agent crate also reports are one call.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::reported::ReadSpan;
use super::span::{Span, SpanKind, SpanStatus, ToolSpan};

/// Merges each span of a wrapped tool with the span that an agent crate opened for the same call: the nearest one that contains it and
/// is a call of a tool with the same name, or else one around it in time, preferably with the same arguments, and the shortest of these.
/// The wrapper knows the arguments and the result, the
/// crate the id of the call.
pub fn merge_own_tools(spans: &mut Vec<ReadSpan>) {
    let places: HashMap<u64, usize> = spans.iter().enumerate().map(|(at, span)| (span.id, at)).collect();
    let mut matched = HashMap::new();
    let mut taken = HashSet::new();
    for own in (0..spans.len()).filter(|at| spans[*at].is_own) {
        if let Some(outer) = same_call(spans, &places, own, &taken) {
            taken.insert(outer);
            matched.insert(own, outer);
        }
    }
    if matched.is_empty() {
        return;
    }
    let ids: HashMap<u64, u64> =
        matched.iter().map(|(own, outer)| (spans[*own].id, spans[*outer].id)).collect();
    for (own, outer) in &matched {
        let own = std::mem::take(&mut spans[*own].span);
        merge(&mut spans[*outer].span, own);
    }
    let mut place = 0..;
    spans.retain(|_| !matched.contains_key(&place.next().unwrap_or_default()));
    for span in spans {
        span.parent = span.parent.map(|parent| ids.get(&parent).copied().unwrap_or(parent));
    }
}

/// The place of the span of an agent crate for the same call.
fn same_call(
    spans: &[ReadSpan],
    places: &HashMap<u64, usize>,
    own: usize,
    taken: &HashSet<usize>,
) -> Option<usize> {
    let tool = |at: usize| spans[at].span.tool.as_deref();
    let name = &tool(own)?.name;
    let is_it = |at: &usize| {
        !spans[*at].is_own
            && !taken.contains(at)
            && spans[*at].span.kind == SpanKind::Tool
            && tool(*at).is_some_and(|tool| tool.name == *name)
    };
    let parent = |at: usize| places.get(&spans[at].parent?).copied();
    let ancestors = || std::iter::successors(parent(own), |at| parent(*at)).take(spans.len());
    let around = || {
        let contains = |at: &usize| is_around(&spans[*at].span, &spans[own].span);
        let has_same_arguments =
            |at: usize| tool(at).map(|tool| &tool.arguments) == tool(own).map(|tool| &tool.arguments);
        (0..spans.len()).filter(is_it).filter(contains).min_by(|a, b| {
            let same = Reverse(has_same_arguments(*a)).cmp(&Reverse(has_same_arguments(*b)));
            same.then(spans[*a].span.duration_ms.total_cmp(&spans[*b].span.duration_ms))
        })
    };
    ancestors().find(is_it).or_else(around)
}

fn is_around(outer: &Span, inner: &Span) -> bool {
    outer.start_ms <= inner.start_ms && inner.end_ms() <= outer.end_ms()
}

fn merge(outer: &mut Span, own: Span) {
    if own.status != SpanStatus::Ok {
        outer.status = own.status;
    }
    outer.error = own.error.or(outer.error.take());
    outer.attributes.extend(own.attributes);
    if let (Some(known), Some(own)) = (&mut outer.tool, own.tool) {
        let ToolSpan { arguments, result, error, .. } = *own;
        known.arguments = arguments.or(known.arguments.take());
        known.result = if error.is_some() { None } else { result.or(known.result.take()) };
        known.error = error.or(known.error.take());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::item::into_item;

    fn tool(id: u64, parent: Option<u64>, (start_ms, duration_ms): (f64, f64), name: &str) -> ReadSpan {
        let tool = ToolSpan { name: name.to_owned(), ..ToolSpan::default() };
        let span = Span {
            kind: SpanKind::Tool,
            start_ms,
            duration_ms,
            tool: Some(Box::new(tool)),
            ..Span::default()
        };
        ReadSpan { id, parent, span, ..ReadSpan::default() }
    }

    fn own(
        id: u64,
        parent: Option<u64>,
        times: (f64, f64),
        q: &str,
        result: Result<Value, &str>,
    ) -> ReadSpan {
        let mut own = ReadSpan { is_own: true, ..tool(id, parent, times, "search") };
        own.span.attributes = into_item(json!({ "fault": "slow 1ms" })).unwrap();
        if let Some(tool) = &mut own.span.tool {
            tool.arguments = Some(json!({ "q": q }));
            tool.result = result.as_ref().ok().cloned();
            tool.error = result.err().map(str::to_owned);
        }
        own
    }

    #[test]
    fn a_call_that_the_agents_crate_reports_too_is_there_once() {
        let mut reported = tool(1, None, (0.0, 10.0), "search");
        if let Some(tool) = &mut reported.span.tool {
            tool.call_id = Some("c".to_owned());
            tool.result = Some(json!("[]"));
        }
        let mut step = tool(2, Some(1), (1.0, 9.0), "step");
        step.span.kind = SpanKind::Other;
        step.span.tool = None;
        let inner = tool(4, Some(3), (3.0, 1.0), "fetch");
        let mut spans = vec![reported, step, own(3, Some(2), (2.0, 5.0), "a", Ok(json!([]))), inner];
        merge_own_tools(&mut spans);
        assert_eq!(spans.iter().map(|span| span.id).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(spans[2].parent, Some(1), "what is below it keeps a parent");
        let merged = spans[0].span.tool.as_ref().unwrap();
        assert_eq!((merged.call_id.as_deref(), &merged.result), (Some("c"), &Some(json!([]))));
        assert_eq!(merged.arguments, Some(json!({ "q": "a" })));
        assert_eq!(spans[0].span.attributes["fault"], "slow 1ms");
    }

    #[test]
    fn without_a_parent_it_is_the_call_around_it_and_each_call_is_merged_once() {
        let mut with_arguments = tool(2, None, (0.0, 90.0), "search");
        with_arguments.span.tool.as_mut().unwrap().arguments = Some(json!({ "q": "b" }));
        let mut spans = vec![
            tool(1, None, (0.0, 50.0), "search"),
            with_arguments,
            own(3, None, (1.0, 5.0), "b", Err("timed out")),
            own(4, None, (1.0, 5.0), "a", Ok(json!(1))),
            own(5, None, (2.0, 5.0), "c", Ok(json!(2))),
            own(6, None, (95.0, 5.0), "d", Ok(json!(3))),
        ];
        merge_own_tools(&mut spans);
        assert_eq!(spans.iter().map(|span| span.id).collect::<Vec<_>>(), [1, 2, 5, 6]);
        let tools: Vec<_> = spans.iter().map(|span| span.span.tool.as_ref().unwrap()).collect();
        assert_eq!(tools[0].result, Some(json!(1)));
        assert_eq!((tools[1].error.as_deref(), &tools[1].result), (Some("timed out"), &None));
    }
}
