//! prototype
use crate::gates::drop;
use crate::runs::{Random, item, run};
use cobalt::report::Measurements;
use cobalt::report::comparison::{Finding, Verdict, compare, judge_against};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Binary(f64),
    BinarySpread(f64),
    Graded(f64),
    Ties,
    Clusters(f64, usize),
    GradedClusters,
}

fn answers(
    id: &str,
    kind: Kind,
    n: usize,
    runs: usize,
    drop: f64,
    shared: &mut Random,
    random: &mut Random,
) -> Measurements {
    let mut items = Vec::new();
    let mut of_cluster = 0.0;
    for key in 0..n {
        // of the item, the same in both runs
        let place = shared.uniform();
        let scores: Vec<f64> = match kind {
            Kind::Binary(p) => (0..runs).map(|_| f64::from(u8::from(random.uniform() < p - drop))).collect(),
            Kind::BinarySpread(p) => {
                let w = (1.0 - p).min(p);
                let c = p + w * (2.0 * place - 1.0) - drop;
                (0..runs).map(|_| f64::from(u8::from(random.uniform() < c))).collect()
            }
            Kind::Graded(s) => {
                (0..runs).map(|_| (0.4 + 0.3 * place - drop + s * random.normal()).clamp(0.0, 1.0)).collect()
            }
            Kind::Ties => (0..runs)
                .map(|_| {
                    let x = 0.4 + 0.4 * place + 0.15 * random.normal();
                    ((x * 4.0).round() / 4.0).clamp(0.0, 1.0)
                })
                .collect(),
            Kind::Clusters(p, size) => {
                if key % size == 0 {
                    of_cluster = random.uniform();
                }
                // half of the answers follow the cluster
                (0..runs)
                    .map(|_| {
                        let u = if random.uniform() < 0.5 { of_cluster } else { random.uniform() };
                        f64::from(u8::from(u < p - drop))
                    })
                    .collect()
            }
            Kind::GradedClusters => {
                if key % 5 == 0 {
                    of_cluster = random.normal();
                }
                (0..runs)
                    .map(|_| (0.5 - drop + 0.1 * of_cluster + 0.1 * random.normal()).clamp(0.0, 1.0))
                    .collect()
            }
        };
        let mut it = item(key, &scores);
        if let Kind::Clusters(_, size) = kind {
            it.cluster = Some((key / size).to_string());
        }
        if let Kind::GradedClusters = kind {
            it.cluster = Some((key / 5).to_string());
        }
        items.push(it);
    }
    run(id, items)
}

#[test]
fn grid() {
    let trials: u64 = std::env::var("TRIALS").ok().and_then(|t| t.parse().ok()).unwrap_or(1000);
    println!(
        "kind n r1v r2 | coverage A/A, with drop {{.05}} | worse A/A | power at smallest detectable | met drop<=.02 with .05 | within noise at 0.05 "
    );
    for kind in [
        Kind::Binary(0.5),
        Kind::Binary(0.9),
        Kind::Binary(0.98),
        Kind::BinarySpread(0.9),
        Kind::Graded(0.1),
        Kind::Ties,
        Kind::Clusters(0.9, 5),
        Kind::Clusters(0.98, 5),
        Kind::GradedClusters,
    ] {
        for n in [10, 20, 50, 200, 1000] {
            for (r1, r2) in [(1, 1), (3, 3), (1, 5), (5, 1)] {
                let (mut cover, mut cover_drop, mut worse, mut power, mut met, mut within, mut detectable) =
                    (0u64, 0u64, 0u64, 0u64, 0u64, 0u64, 0.0);
                let mut told = 0;
                let trials = if n >= 1000 { trials / 4 } else { trials };
                let mut least = Vec::new();
                let true_drop = if matches!(kind, Kind::Ties) { 0.0 } else { 0.05 };
                for trial in 0..trials {
                    let one = |drop: f64, salt: u64| {
                        let mut random = Random((trial * 16 + salt) << 24);
                        let (mut s1, mut s2) =
                            (Random((trial * 16 + 9) << 24), Random((trial * 16 + 9) << 24));
                        let base = answers("a", kind, n, r1, 0.0, &mut s1, &mut random);
                        let other = answers("b", kind, n, r2, drop, &mut s2, &mut random);
                        (base, other)
                    };
                    let (a, b) = one(0.0, 0);
                    let found = compare(&a, &[&b]).remove(0).evaluators.remove(0);
                    if let Some(ci) = found.ci95 {
                        cover += u64::from(ci.low <= 0.0 && ci.high >= 0.0);
                    }
                    worse += u64::from(found.verdict == Verdict::Worse);
                    if let Some(s) = found.smallest_detectable {
                        least.push(s);
                        told += 1;
                        detectable += s;
                    }
                    let (a, b) = one(true_drop, 1);
                    let found = compare(&a, &[&b]).remove(0).evaluators.remove(0);
                    if let Some(ci) = found.ci95 {
                        cover_drop += u64::from(ci.low <= -true_drop && ci.high >= -true_drop);
                    }
                    within += u64::from(found.verdict == Verdict::WithinNoise);
                    met += u64::from(judge_against(&a, &b, &[&drop(0.02)])[0].finding == Finding::Met);
                }
                let mean = detectable / told as f64;
                let ptrials = trials / 4;
                for trial in 0..ptrials {
                    let mut random = Random((trial * 16 + 3) << 24);
                    let (mut s1, mut s2) = (Random((trial * 16 + 9) << 24), Random((trial * 16 + 9) << 24));
                    let base = answers("a", kind, n, r1, 0.0, &mut s1, &mut random);
                    let other = answers("b", kind, n, r2, mean, &mut s2, &mut random);
                    let found = compare(&base, &[&other]).remove(0).evaluators.remove(0);
                    power += u64::from(found.p_value.is_some_and(|p| p < 0.05) && found.difference < 0.0);
                }
                let pc = |c: u64, of: u64| 100.0 * c as f64 / of as f64;
                println!(
                    "{kind:?} {n} {r1}v{r2} | {:.1} {:.1} | {:.1} | {mean:.3} {:.0} | {:.1} | {:.1}",
                    pc(cover, trials),
                    pc(cover_drop, trials),
                    pc(worse, trials),
                    pc(power, ptrials),
                    pc(met, trials),
                    pc(within, trials)
                );
            }
        }
    }
}
