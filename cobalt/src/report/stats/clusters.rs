//! Observations that come in clusters: the items of one document, the runs of one item.

use super::sum;

/// Observations that hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// The observations added up.
    pub total: f64,
    /// How many there are.
    pub count: usize,
}

/// A value for each cluster, to be described as if they were independent: they have the mean of all observations, and the
/// standard error of their mean is that of this mean as a ratio of two sums over clusters (Cochran, "Sampling techniques",
/// 3rd edition, 1977, chapter 6). Where all clusters are of one size, it is the cluster's own mean; the mean of a smaller one
/// is drawn towards that of all.
///
/// Empty without observations.
#[must_use]
pub fn by_cluster(clusters: &[Cluster]) -> Vec<f64> {
    let count: usize = clusters.iter().map(|cluster| cluster.count).sum();
    if count == 0 {
        return Vec::new();
    }
    let mean = sum(clusters.iter().map(|cluster| cluster.total)) / count as f64;
    let usual = count as f64 / clusters.len() as f64;
    clusters.iter().map(|cluster| mean + (cluster.total - mean * cluster.count as f64) / usual).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(values: &[f64]) -> Cluster {
        Cluster { total: values.iter().sum(), count: values.len() }
    }

    #[test]
    fn clusters_of_one_size_stand_for_their_means() {
        assert_eq!(by_cluster(&[cluster(&[1.0, 2.0]), cluster(&[4.0, 4.0])]), [1.5, 4.0]);
        assert_eq!(by_cluster(&[cluster(&[0.25]), cluster(&[0.75])]), [0.25, 0.75]);
    }

    #[test]
    fn smaller_clusters_are_drawn_towards_the_mean_which_stays() {
        let values = by_cluster(&[cluster(&[0.0, 0.0, 0.0]), cluster(&[1.0])]);
        // The mean of four is 0.25: 0.25 - 3 * 0.25 / 2, and 0.25 + 0.75 / 2.
        assert_eq!(values, [-0.125, 0.625]);
    }

    #[test]
    fn without_observations_there_are_no_values() {
        assert!(by_cluster(&[]).is_empty() && by_cluster(&[cluster(&[])]).is_empty());
    }
}
