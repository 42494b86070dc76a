"""Writes the expected p-values and strengths of rankings, calculated with statsmodels, scipy and choix.

python -m venv venv && venv/bin/pip install choix==0.4.1 scipy statsmodels && venv/bin/python ranking.py [solutions of GSM8K.jsonl]
"""

import itertools
import json
import sys
from pathlib import Path

import choix
import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(28)


def mcnemar_mid_p(better, worse):
    """Twice the binomial tail, with half the probability of the observed value."""
    fewer, all_ = min(better, worse), better + worse
    if all_ == 0:
        return 1.0
    tail = stats.binom.cdf(fewer, all_, 0.5) - 0.5 * stats.binom.pmf(fewer, all_, 0.5)
    return float(min(1.0, 2.0 * tail))


def sign_flip_mid_p(differences):
    """Twice the share of all signs that give a larger sum, with half of those that give the same sum."""
    moved = differences[differences != 0]
    if len(moved) == 0:
        return 1.0
    signs = np.array(list(itertools.product([1, -1], repeat=len(moved))))
    sums, observed = signs @ moved, abs(moved.sum())
    same = np.isclose(sums, observed, rtol=0, atol=1e-9)
    return float(2 * np.mean((sums > observed) & ~same) + np.mean(same))


def with_holm(pairs, p_values):
    adjusted = multipletests(p_values, method="holm")[1]
    return [
        {"base": base, "other": other, "p": p, "pAdjusted": float(holm)}
        for (base, other), p, holm in zip(pairs, p_values, adjusted)
    ]


def gsm8k(path):
    """The pairs of four systems on the problems of GSM8K."""
    systems = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"]
    problems = [json.loads(line) for line in Path(path).read_text().splitlines()]
    answer = lambda text: text.split("A: ")[-1].split("\n")[0].strip().replace(",", "").replace("$", "")
    is_right = lambda problem, system: answer(problem[system]["solution"]) == answer(problem["ground_truth"])
    scores = np.array([[is_right(problem, system) for problem in problems] for system in systems], dtype=int)
    pairs = list(itertools.combinations(range(len(systems)), 2))
    change = [scores[other] - scores[base] for base, other in pairs]
    p_values = [mcnemar_mid_p(int((it > 0).sum()), int((it < 0).sum())) for it in change]
    return {"right": scores.sum(axis=1).tolist(), "pairs": with_holm(pairs, p_values)}


def table(number):
    """Scores of three to eight runs at the same items: 0 and 1, or quarters of few items."""
    runs, graded = int(RANDOM.integers(3, 9)), number % 2 == 1
    items = int(RANDOM.integers(6, 13)) if graded else int(RANDOM.integers(20, 121))
    skill = RANDOM.uniform(0.2, 0.95, runs)
    ease = RANDOM.uniform(-0.3, 0.3, items)
    chance = np.clip(skill[:, None] + ease[None, :], 0, 1)
    if graded:
        scores = np.round(np.clip(chance + RANDOM.normal(0, 0.2, chance.shape), 0, 1) * 4) / 4
    else:
        scores = (RANDOM.uniform(size=chance.shape) < chance).astype(float)
    is_binary = lambda i: set(np.unique(scores[i])) <= {0.0, 1.0}
    pairs = list(itertools.combinations(range(runs), 2))
    p_values = []
    for base, other in pairs:
        change = scores[other] - scores[base]
        if is_binary(base) and is_binary(other):
            p_values.append(mcnemar_mid_p(int((change > 0).sum()), int((change < 0).sum())))
        else:
            p_values.append(sign_flip_mid_p(change))
    return {"scores": scores.tolist(), "pairs": with_holm(pairs, p_values)}


def comparisons(runs, items, position, ties):
    """A judge compares some pairs of outputs per item; an item favors some runs."""
    strengths = RANDOM.normal(0, 1, runs)
    found = []
    for item in range(items):
        own = strengths + RANDOM.normal(0, 0.5, runs)
        for first, second in itertools.permutations(range(runs), 2):
            if RANDOM.uniform() < 0.6:
                chance = 1 / (1 + np.exp(-(own[first] - own[second] + position)))
                outcome = 0.5 if RANDOM.uniform() < ties else float(RANDOM.uniform() < chance)
                found.append({"cluster": f"item {item}", "first": first, "second": second, "outcome": outcome})
    return found


def bradley_terry(runs, found, with_position):
    """A binomial GLM with one more tie per run, spread over all others and both orders, and the sandwich estimator."""
    rows = [(c["cluster"], c["first"], c["second"], c["outcome"], 1.0) for c in found]
    added = 0.5 / (runs - 1)
    rows += [(f"added {min(a, b)} {max(a, b)}", a, b, 0.5, added) for a, b in itertools.permutations(range(runs), 2)]
    # The strength of the last run is minus the sum of the others.
    basis = np.vstack([np.eye(runs - 1), -np.ones(runs - 1)])
    design = np.array([basis[first] - basis[second] for _, first, second, _, _ in rows])
    if with_position:
        design = np.hstack([design, np.ones((len(rows), 1))])
    outcomes, weights = np.array([row[3] for row in rows]), np.array([row[4] for row in rows])
    groups = np.unique([row[0] for row in rows], return_inverse=True)[1]
    model = sm.GLM(outcomes, design, family=sm.families.Binomial(), var_weights=weights)
    fit = model.fit(
        tol=1e-14, maxiter=200, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    expand = np.hstack([basis, np.zeros((runs, 1))]) if with_position else basis
    strengths = expand @ fit.params
    clusters = len({c["cluster"] for c in found})
    variances = np.diag(expand @ fit.cov_params() @ expand.T) * clusters / (clusters - 1)
    margins = stats.t.ppf(0.975, clusters - 1) * np.sqrt(variances)
    if not with_position:
        wins = np.full((runs, runs), added)
        np.fill_diagonal(wins, 0)
        for c in found:
            wins[c["first"], c["second"]] += c["outcome"]
            wins[c["second"], c["first"]] += 1 - c["outcome"]
        by_choix = choix.ilsr_pairwise_dense(wins, alpha=0.0, tol=1e-12)
        assert np.allclose(by_choix - by_choix.mean(), strengths, atol=1e-8), (by_choix, strengths)
    return {
        "runs": runs,
        "withPosition": with_position,
        "comparisons": found,
        "strengths": strengths.tolist(),
        "margins": margins.tolist(),
        "position": float(fit.params[-1]) if with_position else None,
    }


def preferences():
    for runs in (2, 3, 5, 8):
        for with_position in (False, True):
            found = comparisons(runs, 12 if runs > 4 else 25, 0.5 if with_position else 0.0, 0.15)
            yield bradley_terry(runs, found, with_position)
    # The first run wins everything.
    found = [
        {"cluster": f"item {item}", "first": first, "second": second, "outcome": float(first == 0 or (second != 0 and item % 2))}
        for item in range(10)
        for first, second in itertools.permutations(range(3), 2)
    ]
    yield bradley_terry(3, found, True)


def write(name, value):
    (HERE / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


write("ranking.json", [table(number) for number in range(50)])
write("bradley_terry.json", list(preferences()))
if len(sys.argv) > 1:
    write("gsm8k.json", gsm8k(sys.argv[1]))
