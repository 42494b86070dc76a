//! Sums up the metrics that agents recorded.

use std::collections::BTreeMap;

use super::clusters::ClusterNumbering;
use super::custom_metric::{MetricStats, MetricValue, USER_MISTAKES};
use super::item::{ItemResult, Status};
use super::stats::{Cluster, by_cluster, describe};

/// The values of one metric.
#[derive(Debug, Default)]
struct Values {
    /// Every value of every execution.
    all: Vec<f64>,
    /// The sum and number of values by cluster number.
    clusters: Vec<Cluster>,
    /// The number of executions with an output that recorded it.
    answered: usize,
    /// The first unit.
    unit: Option<String>,
    /// The first direction.
    better: Option<super::Direction>,
}

impl Values {
    fn add(&mut self, metric: &MetricValue, cluster: usize, is_answered: bool) {
        self.all.push(metric.value);
        self.answered += usize::from(is_answered);
        if cluster >= self.clusters.len() {
            self.clusters.resize(cluster + 1, Cluster { total: 0.0, count: 0 });
        }
        let cluster = &mut self.clusters[cluster];
        cluster.total += metric.value;
        cluster.count += 1;
        if self.unit.is_none() {
            self.unit.clone_from(&metric.unit);
        }
        self.better = self.better.or(metric.better);
    }

    fn stats(&self) -> Option<MetricStats> {
        let all = describe(&self.all)?;
        let clusters: Vec<_> = self.clusters.iter().filter(|cluster| cluster.count > 0).copied().collect();
        Some(MetricStats {
            avg: all.mean,
            min: all.min,
            max: all.max,
            p50: all.p50,
            p95: all.p95,
            p99: all.p99,
            total: all.sum.clamp(f64::MIN, f64::MAX),
            count: all.n,
            ci95: describe(&by_cluster(&clusters)).and_then(|means| means.ci95),
            unit: self.unit.clone(),
            better: self.better,
        })
    }
}

/// The metrics that agents recorded, by name, also in executions that failed; gathered item by item.
#[derive(Debug, Default)]
pub struct RecordedMetrics {
    values: BTreeMap<String, Values>,
    executions: usize,
    /// Executions with an output.
    answered: usize,
    /// Those of them that are conversations without a simulated user.
    scripted: usize,
}

impl RecordedMetrics {
    /// Adds an item of the cluster with this number.
    pub fn add(&mut self, item: &ItemResult, cluster: usize) {
        for run in &item.runs {
            let is_answered = run.status == Status::Ok;
            let is_scripted = run.transcript.as_ref().is_some_and(|transcript| !transcript.simulated);
            self.executions += 1;
            self.answered += usize::from(is_answered);
            self.scripted += usize::from(is_answered && is_scripted);
            for (name, metric) in &run.metrics {
                match self.values.get_mut(name) {
                    Some(values) => values.add(metric, cluster, is_answered),
                    None => {
                        self.values.entry(name.clone()).or_default().add(metric, cluster, is_answered);
                    }
                }
            }
        }
    }

    /// The number of executions.
    pub fn executions(&self) -> usize {
        self.executions
    }

    /// How many executions with an output recorded the metric, and how many there are that should.
    pub fn answered(&self, name: &str) -> (usize, usize) {
        let recorded = self.values.get(name).map_or(0, |values| values.answered);
        (recorded, self.answered - if name == USER_MISTAKES { self.scripted } else { 0 })
    }

    /// Whether some execution recorded a metric of this name.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The statistics of each metric.
    pub fn stats(&self) -> BTreeMap<String, MetricStats> {
        self.values.iter().filter_map(|(name, values)| Some((name.clone(), values.stats()?))).collect()
    }
}

/// The metrics of all executions by name, also of those that failed.
pub fn metric_stats(items: &[ItemResult]) -> BTreeMap<String, MetricStats> {
    let mut clusters = ClusterNumbering::default();
    let mut recorded = RecordedMetrics::default();
    items.iter().for_each(|item| recorded.add(item, clusters.of(item)));
    recorded.stats()
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

    #[test]
    fn overflowing_totals_keep_the_mean() {
        let stats = &metric_stats(&[item(0, &[1e308]), item(1, &[1e308])])["retrieved"];
        assert_eq!((stats.avg, stats.min, stats.max, stats.count), (1e308, 1e308, 1e308, 2));
        assert_eq!(stats.total, f64::MAX);
        let text = serde_json::to_string(stats).unwrap();
        assert_eq!(&serde_json::from_str::<MetricStats>(&text).unwrap(), stats);
    }
}
