//! Sums up the metrics that agents recorded.

use std::collections::BTreeMap;

use super::clusters::ClusterNumbering;
use super::custom_metric::{MetricStats, MetricValue};
use super::item::ItemResult;
use super::stats::{Cluster, by_cluster, describe, sum};

/// The values of one metric.
#[derive(Default)]
struct Values<'a> {
    /// Every value of every execution.
    all: Vec<f64>,
    /// The sum and number of values by cluster number.
    clusters: BTreeMap<usize, Cluster>,
    /// The first value with a unit.
    unit: Option<&'a str>,
    /// The first value with a direction.
    better: Option<super::Direction>,
}

impl<'a> Values<'a> {
    fn add(&mut self, metric: &'a MetricValue, cluster: usize) {
        self.all.push(metric.value);
        let cluster = self.clusters.entry(cluster).or_insert(Cluster { total: 0.0, count: 0 });
        cluster.total += metric.value;
        cluster.count += 1;
        self.unit = self.unit.or(metric.unit.as_deref());
        self.better = self.better.or(metric.better);
    }

    fn stats(self) -> Option<MetricStats> {
        let all = describe(&self.all)?;
        let clusters: Vec<_> = self.clusters.into_values().collect();
        Some(MetricStats {
            avg: all.mean,
            min: all.min,
            max: all.max,
            p50: all.p50,
            p95: all.p95,
            p99: all.p99,
            total: sum(self.all.iter().copied()),
            count: all.n,
            ci95: describe(&by_cluster(&clusters)).and_then(|means| means.ci95),
            unit: self.unit.map(str::to_owned),
            better: self.better,
        })
    }
}

/// The metrics of all executions by name, also of those that failed.
pub fn metric_stats(items: &[ItemResult]) -> BTreeMap<String, MetricStats> {
    let mut clusters = ClusterNumbering::default();
    let mut values: BTreeMap<&str, Values<'_>> = BTreeMap::new();
    for item in items {
        let cluster = clusters.of(item);
        for (name, metric) in item.runs.iter().flat_map(|run| &run.metrics) {
            values.entry(name).or_default().add(metric, cluster);
        }
    }
    values.into_iter().filter_map(|(name, values)| Some((name.to_owned(), values.stats()?))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::report::{Direction, Execution, Status};

    fn item(cluster: usize, values: &[f64]) -> ItemResult {
        let run = |value: &f64| Execution {
            status: Status::Error,
            metrics: [("retrieved".to_owned(), MetricValue { value: *value, ..MetricValue::default() })]
                .into(),
            ..Execution::default()
        };
        let input = json!({ "cluster": cluster }).as_object().unwrap().clone();
        let runs = values.iter().map(run).collect();
        ItemResult { index: 0, key: String::new(), input: Arc::new(input), passed: true, runs }
    }

    #[test]
    fn every_value_counts_and_the_interval_is_that_of_clusters() {
        let mut items = [item(0, &[1.0, 3.0]), item(1, &[5.0, 7.0]), item(2, &[])];
        items[1].runs[0].metrics.get_mut("retrieved").unwrap().unit = Some("documents".to_owned());
        items[1].runs[1].metrics.get_mut("retrieved").unwrap().better = Some(Direction::Higher);
        let stats = &metric_stats(&items)["retrieved"];
        assert_eq!((stats.avg, stats.min, stats.max, stats.p50), (4.0, 1.0, 7.0, 4.0));
        assert_eq!((stats.total, stats.count), (16.0, 4));
        assert_eq!((stats.unit.as_deref(), stats.better), (Some("documents"), Some(Direction::Higher)));
        // Two means of 2 and 6: a standard error of 2, and Student's t of one degree of freedom, 12.706.
        let ci = stats.ci95.unwrap();
        assert!((ci.high - 4.0 - 2.0 * 12.706).abs() < 0.01, "{ci:?}");
        let one_cluster = [item(0, &[1.0]), item(0, &[3.0])];
        assert_eq!(metric_stats(&one_cluster)["retrieved"].ci95, None);
        assert!(metric_stats(&[item(0, &[])]).is_empty());
    }
}
