"""The papers' equations in plain Python, as functions of the rows that `wug export --what predictions` writes. `test_recompute.py`
compares them with wug's own scores. Nothing here uses the package.

Each metric takes the predictions that a score is about, and the run: the row of the score with `curve` (rows of curves) and `splits`
(all predictions by split).
"""

import math
from collections import defaultdict

TOLERANCE = 1e-9

# ---- What scores are made of: parts, each a numerator and a denominator --------------------------------------------------------


class Score:
    """A ratio of sums, with the chance level where there is one."""

    def __init__(self, parts=None, total=None, chance=None, spread=False):
        parts = [] if parts is None else parts
        self.numerator, self.denominator, self.n = total or (
            math.fsum(part[0] for part in parts),
            math.fsum(part[1] for part in parts),
            len(parts),
        )
        self.chance = chance
        self.spread = deviation([top / bottom for top, bottom in parts]) if spread and parts else None

    @property
    def value(self):
        return self.numerator / self.denominator if self.denominator else None


def deviation(values):
    """The population standard deviation."""
    if not all(map(math.isfinite, values)):
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def whole(value):
    """A single value that is no mean, or none."""
    return Score(total=(0.0, 0.0, 0) if value is None else (value, 1.0, 1))


def once(value, chance=None):
    return Score(total=(value, 1.0, 1), chance=chance)


def each(rows, part, chance=None):
    """The sums over all rows for which there is a part."""
    return Score([found for row in rows if (found := part(row)) is not None], chance=chance, spread=True)


# ---- FLaRe: Butoi et al. 2025, §3.3 and §5 -------------------------------------------------------------------------------------


def softplus(x):
    """log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def shares(answers):
    """The share of yes among answers, if there are both."""
    share = sum(answers) / len(answers) if answers else 0
    return share if 0 < share < 1 else None


def entropy(share):
    return None if share is None else -share * math.log(share) - (1 - share) * math.log(1 - share)


def recognition_accuracy(rows, _):
    share = shares([row["label"] for row in rows])
    correct = lambda row: (float((row["log_odds"] >= 0) == row["label"]), 1.0)
    return each(rows, correct, None if share is None else max(share, 1 - share))


def recognition_cross_entropy(rows, _):
    """-log σ(z) of a member, -log(1 - σ(z)) of another string."""
    loss = lambda row: (softplus(-row["log_odds"] if row["label"] else row["log_odds"]), 1.0)
    return each(rows, loss, entropy(shares([row["label"] for row in rows])))


def repeated(rows):
    """Rows that stand for several equal strings, one by one."""
    return [row for row in rows for _ in range(row["count"] or 1)]


def nats(row):
    """-log p of a member, its end included."""
    return -math.fsum(row["log_probs"]) if row["label"] and row["log_probs"] is not None else None


def sampled(row):
    """The same by the law that drew it."""
    return -row["sampler_log_prob"] if row["label"] and row["sampler_log_prob"] is not None else None


def symbols(row):
    return row["length"] + 1


def minus(a, b):
    return None if a is None or b is None else a - b


def tilted(rows):
    """The best cost of a string if its nats are divided by its symbols: q(w) = p(w) / (n + 1) / Z, Z the mean of 1 / (n + 1)."""
    lengths = [1 / symbols(row) for row in rows if row["label"]]
    z = math.fsum(lengths) / len(lengths) if lengths else 1
    return lambda row: None if sampled(row) is None else sampled(row) + math.log(symbols(row)) + math.log(z)


def per_string(cost):
    return lambda row: None if cost(row) is None else (cost(row) / symbols(row), 1.0)


def per_symbol(cost):
    return lambda row: None if cost(row) is None else (cost(row), float(symbols(row)))


def uniform(rows):
    return math.log(rows[0]["choices"]) if rows else None


def language_modeling(kind, cost, chance=False):
    def score(rows, _):
        rows = repeated(rows)
        return each(rows, kind(cost(rows)), uniform(rows) if chance else None)

    return score


def excess_of_chance(rows, _):
    rows = repeated(rows)

    def part(row):
        if (above := minus(nats(row), sampled(row))) is None:
            return None
        return above, math.log(row["choices"]) * symbols(row) - sampled(row)

    return each(rows, part, 1.0)


def answers(row):
    """At each prefix, the log-odds of every symbol and the end, with whether it may come."""
    if not row["label"] or row["next_log_odds"] is None:
        return None
    size, flat = row["choices"], list(zip(row["next_log_odds"], row["next_allowed"], strict=True))
    assert len(flat) == size * symbols(row)
    return [flat[at : at + size] for at in range(0, len(flat), size)]


def next_symbols(part, chance=lambda known: None):
    def score(rows, _):
        known = [found for row in rows if (found := answers(row)) is not None]
        return Score([part(prefixes) for prefixes in known], chance=chance(known), spread=True)

    return score


def allowed(prefixes):
    return [may for prefix in prefixes for _, may in prefix]


def constant_entropy(known):
    """Strings weigh the same, and so does each share of symbols that may come."""
    each_share = [sum(allowed(prefixes)) / len(allowed(prefixes)) for prefixes in known]
    return entropy(math.fsum(each_share) / len(each_share))


def commoner_answer(known):
    share = shares([may for prefixes in known for may in allowed(prefixes)])
    return None if share is None else max(share, 1 - share)


def is_correct(prefix):
    return [(z >= 0) == may for z, may in prefix]


def next_cross_entropy(prefixes):
    """Averaged over symbols, then over prefixes."""
    means = [math.fsum(softplus(-z if may else z) for z, may in prefix) / len(prefix) for prefix in prefixes]
    return math.fsum(means) / len(means), 1.0


def next_symbol_accuracy(prefixes):
    correct = [right for prefix in prefixes for right in is_correct(prefix)]
    return float(sum(correct)), float(len(correct))


def next_set_accuracy(prefixes):
    return float(sum(all(is_correct(prefix)) for prefix in prefixes)), float(len(prefixes))


def next_string_accuracy(prefixes):
    return float(all(all(is_correct(prefix)) for prefix in prefixes)), 1.0


# ---- BLISS: Lan et al. 2023, §3.5 ----------------------------------------------------------------------------------------------


def forgiven(run):
    """The share of incorrect steps that is accepted: ε for deterministic steps; categorical ones compare probabilities with it."""
    return run["stratum_low"] if run["criterion"] == "deterministic" else 0.0


def accepted(row, share):
    return row["steps_scored"] - row["steps_correct"] <= share * row["steps_scored"]


def step_accuracy(rows, _):
    correct, scored = (sum(row[name] for row in rows) for name in ["steps_correct", "steps_scored"])
    return Score(total=(correct, scored, len(rows)))


def acceptance(rows, run):
    return Score([(float(accepted(row, forgiven(run))), 1.0) for row in rows])


def solved_length(rows, run):
    """Up to where all strings are accepted: their number, or the length of the last of them."""
    solved = next((i for i, row in enumerate(rows) if not accepted(row, forgiven(run))), len(rows))
    if run["data.test.from"] == "first":
        return whole(solved)
    return whole(rows[solved - 1]["length"] if solved else None)


# ---- TSE: Someya et al. 2024, §3.3 ---------------------------------------------------------------------------------------------


def pairs(rows):
    """The good and the bad string of each pair."""
    found = defaultdict(dict)
    for row in rows:
        found[row["pair"]][row["role"]] = row
    assert all(set(pair) == {"good", "bad"} for pair in found.values())
    return [(pair["good"], pair["bad"]) for _, pair in sorted(found.items())]


def identical(pair):
    return pair[0]["string"] == pair[1]["string"]


COMPARED = {
    "sum": lambda logs: math.fsum(logs),
    "mean": lambda logs: math.fsum(logs) / len(logs),
    "mean_probability": lambda logs: math.fsum(map(math.exp, logs)) / len(logs),
}


def preference(compared, tie):
    """One if the good string is preferred; what differs by rounding alone is a tie."""

    def part(pair):
        good, bad = (compared(row["log_probs"]) for row in pair)
        if good == bad or abs(good - bad) <= 1e-12 * max(abs(good), abs(bad)) < math.inf:
            return tie, 1.0
        return float(good > bad), 1.0

    def score(rows, _):
        found = pairs(rows)
        coin = (1 - sum(map(identical, found)) / len(found)) / 2
        return Score([part(pair) for pair in found], chance=0.5 if tie else coin)

    return score


def ceiling(of_identical, of_grammatical):
    """What knowing the language is worth: a bad string that is grammatical cannot be told from the good one."""

    def part(pair):
        undecided = of_identical if identical(pair) else of_grammatical if pair[1]["label"] else 1.0
        return undecided, 1.0

    return lambda rows, _: Score([part(pair) for pair in pairs(rows)])


def scored(rows):
    """The strings of a corpus: those for validation, or the good ones of pairs."""
    return [row for row in rows if row["role"] != "bad"]


def cross_entropy_of_corpus(rows, _):
    rows = scored(rows)
    total = -math.fsum(log for row in rows for log in row["log_probs"])
    return Score(total=(total, sum(map(symbols, rows)), len(rows)), chance=uniform(rows))


def perplexity(cost, chance):
    def score(rows, _):
        rows = scored(rows)
        mean = math.fsum(map(cost, rows)) / sum(map(symbols, rows))
        value = math.exp(mean) if mean < math.inf else math.inf
        return Score(total=(value, 1.0, len(rows)), chance=rows[0]["choices"] if chance else None)

    return score


# ---- WADE: Cisneros et al. 2022, Eqs. 1 and 2 ----------------------------------------------------------------------------------


def thresholds(run):
    at = lambda name: run[f"wade.thresholds.{name}"]
    if at("kind") == "even":
        return [k / at("of") for k in range(int(at("first")), int(at("last")) + 1)]
    step = (at("from") + at("step")) - at("from")
    return [at("from") + k * step for k in range(int(at("count")))]


def wade_of(run, curve):
    """The mean of 1/T(α), T being the first step with the accuracy α, weighted by α (or from 1 to 10)."""
    levels = thresholds(run)
    weights = levels
    if run["wade.weighting"] == "one-to-ten":
        weights = [1 + 9 * k / max(len(levels) - 1, 1) for k in range(len(levels))]
    reached = (lambda a, level: a >= level) if run["wade.comparison"] == "at-least" else (lambda a, level: a > level)
    first = lambda level: next((step for step, accuracy in curve if reached(accuracy, level)), math.inf)
    return math.fsum(weight / first(level) for weight, level in zip(weights, levels)) / math.fsum(weights)


def evaluations(run):
    """Sequences seen, updates and correct answers, at each evaluation."""
    total = run["facts.test_answers"]
    # Where answers are learned from one by one, sequences seen are no whole number, and are rounded in the table.
    per_sequence = run["facts.train_answers"] / run["facts.train"]
    exact = lambda seen: seen if seen == int(seen) else round(seen * per_sequence) / per_sequence
    return [(exact(p["seen"]), p["step"], round(p["accuracy"] * total)) for p in run["curve"] if p["seen"] is not None]


def steps(run):
    """The step and the correct answers of each evaluation, in the unit of the score. Eq. 2 begins with the first step."""
    learned = [point for point in evaluations(run) if point[0] > 0]
    unit = {
        "sequences": lambda i, seen, updates: max(seen, 1.0),
        "updates": lambda i, seen, updates: updates,
        "evaluations": lambda i, seen, updates: i + 1,
        # The released code for reservoirs: 1 + i·b/m, with b answers between evaluations and m answers per sequence.
        "mean-sequences": lambda i, *_: 1 + i * run["evaluations.every"] / run["facts.answers_per_sequence"],
    }[run["wade.unit"]]
    return [(unit(i, seen, updates), correct) for i, (seen, updates, correct) in enumerate(learned)]


def wade(_, run):
    of, chance = run["facts.test_answers"], run["facts.chance"]
    return once(wade_of(run, [(t, correct / of) for t, correct in steps(run)]), wade_of(run, [(1, chance)]))


def wade_above_chance(_, run):
    of = run["facts.test_answers"]
    chance = round(run["facts.chance"] * of)
    above = lambda correct: max(correct - chance, 0) / (of - chance) if of > chance else 0
    return once(wade_of(run, [(t, above(correct)) for t, correct in steps(run)]))


def wade_before_training(_, run):
    seen, _, correct = evaluations(run)[0]
    assert seen == 0
    return once(wade_of(run, [(1, correct / run["facts.test_answers"])]))


def highest_accuracy(_, run):
    of = run["facts.test_answers"]
    return Score(total=(max(point[2] for point in evaluations(run)), of, of), chance=run["facts.chance"])


def last_accuracy(rows, run):
    """From the predictions at the end."""
    correct, asked = (sum(row[name] for row in rows) for name in ["steps_correct", "steps_scored"])
    assert correct == evaluations(run)[-1][2]
    return Score(total=(correct, asked, asked), chance=run["facts.chance"])


def answers_seen(_, run):
    """Predictions that changed with the answer were counted during the run: what was asked then is not kept."""
    changed, of = run["facts.leak.changed"], run["facts.leak.of"]
    return Score(total=(changed, of, of))


# ---- FIND: Kharitonov and Chaabouni 2021, §2 and Eq. 1 -------------------------------------------------------------------------


def matches(rows):
    return [row["output"] == row["target"] for row in rows]


def exact_match(rows, _):
    return Score([(float(same), 1.0) for same in matches(rows)])


def perfect_agreement(rows, _):
    return once(float(all(matches(rows))))


def agreement_with_none(_, run):
    rules = [matches(rows) for split, rows in run["splits"].items() if split.startswith("holdout/")]
    assert rules
    return once(float(not any(map(all, rules))))


def description_length(unit=1.0, per_example=False):
    """The nats of all outputs that were sent, each coded after training on the blocks before it."""

    def score(rows, _):
        sent = [row for row in rows if row["block"] is not None]
        for row in sent:
            assert len(row["log_probs"]) == len(row["target"].split()) + 1
            assert abs(math.fsum(row["log_probs"]) - row["log_prob"]) < TOLERANCE
        total = -math.fsum(log for row in sent for log in row["log_probs"]) / unit
        return Score(total=(total, len(sent) if per_example else 1.0, len(sent)))

    return score


# ---- All metrics ---------------------------------------------------------------------------------------------------------------

SYMBOL_CROSS_ENTROPY = "language_modeling_symbol_cross_entropy"
COSTS = {
    "cross_entropy": (lambda rows: nats, True),
    "optimum": (tilted, False),
    "excess": (lambda rows: lambda row: minus(nats(row), tilted(rows)(row)), False),
}
SYMBOL_COSTS = {
    "cross_entropy": (lambda rows: nats, True),
    "optimum": (lambda rows: sampled, False),
    "excess": (lambda rows: lambda row: minus(nats(row), sampled(row)), False),
}
METRICS = {
    "recognition_accuracy": recognition_accuracy,
    "recognition_cross_entropy": recognition_cross_entropy,
    **{f"language_modeling_{name}": language_modeling(per_string, *cost) for name, cost in COSTS.items()},
    **{f"language_modeling_symbol_{name}": language_modeling(per_symbol, *cost) for name, cost in SYMBOL_COSTS.items()},
    "language_modeling_symbol_excess_of_chance": excess_of_chance,
    "next_symbols_cross_entropy": next_symbols(next_cross_entropy, constant_entropy),
    "next_symbols_symbol_accuracy": next_symbols(next_symbol_accuracy, commoner_answer),
    "next_symbols_set_accuracy": next_symbols(next_set_accuracy),
    "next_symbols_string_accuracy": next_symbols(next_string_accuracy),
    "deterministic_accuracy": step_accuracy,
    "deterministic_acceptance": acceptance,
    "categorical_accuracy": step_accuracy,
    "categorical_acceptance": acceptance,
    "solved_length": solved_length,
    **{f"pair_accuracy_{name}": preference(compared, 0.0) for name, compared in COMPARED.items()},
    **{f"pair_accuracy_{name}_half_ties": preference(compared, 0.5) for name, compared in COMPARED.items()},
    "pair_ceiling": ceiling(0.0, 0.5),
    "pair_ceiling_indifferent": ceiling(0.0, 0.0),
    "pair_ceiling_half_ties": ceiling(0.5, 0.5),
    "perplexity": perplexity(nats, True),
    "perplexity_floor": perplexity(sampled, False),
    "wade": wade,
    "wade_above_chance": wade_above_chance,
    "wade_before_training": wade_before_training,
    "highest_accuracy": highest_accuracy,
    "last_accuracy": last_accuracy,
    "answers_seen": answers_seen,
    "exact_match": exact_match,
    "perfect_agreement": perfect_agreement,
    "agreement_with_none": agreement_with_none,
    "description_length": description_length(),
    "description_length_bits": description_length(unit=math.log(2)),
    "description_length_per_example": description_length(per_example=True),
}


def metric(row):
    """The function of a score. Corpora of minimal pairs are scored without their bad strings."""
    if row["protocol"] == "pairs" and row["metric"] == SYMBOL_CROSS_ENTROPY:
        return cross_entropy_of_corpus
    return METRICS.get(row["metric"])


def in_stratum(row):
    """Which predictions a score is about."""
    low, high = row["stratum_low"], row["stratum_high"]
    within = lambda name: lambda p: p[name] is not None and low <= p[name] <= high
    if row["stratum_kind"] == "length" and row["protocol"] == "pairs":
        return lambda p, lengths: low <= lengths[p["pair"]] <= high
    parts = {
        "all": lambda p: True,
        "label": lambda p: p["label"] == (row["stratum"] == "positive"),
        "kind": lambda p: f"{p['kind']} negative" == row["stratum"],
        "edits": lambda p: not p["label"] and within("edits")(p),
        "distance": lambda p: not p["label"] and within("distance")(p),
        **{name: within(name) for name in ["length", "margin", "block", "dependency"]},
    }
    return lambda p, _: parts[row["stratum_kind"]](p)


# ---- What several runs have in common ------------------------------------------------------------------------------------------

# Columns of a score that say nothing about its run.
OWN = {
    *["derived", "runs", "split", "stratum", "stratum_kind", "stratum_low", "stratum_high", "metric", "unit", "value", "shown"],
    *["numerator", "denominator", "n", "spread", "chance", "interval_low", "interval_high", "interval_level"],
}


def mean(row, of, _):
    return Score([(score["value"], 1.0) for score in of])


def has_value(run, _):
    return run["value"] is not None


def fits(run, predictions):
    """Whether all outputs for training inputs are right."""
    return all(matches(predictions[run["plan"]]["training"]))


def any_run(run, _):
    return True


def index(every_string):
    """The largest factor whose test strings are solved (Eq. 1): enough of all steps, or each string by itself."""

    def largest(row, of, predictions):
        solved = set()
        for run in of:
            at = [p for p in predictions[run["plan"]]["test"] if p["margin"] == row["stratum_low"]]
            share = forgiven({**run, "stratum_low": row["stratum_low"]})
            together = {name: sum(p[name] for p in at) for name in ["steps_scored", "steps_correct"]}
            if all(accepted(p, share) for p in at) if every_string else accepted(together, share):
                solved.add(run["factor"])
        return whole(max(solved, default=None))

    return largest


def derived(name):
    """The metric of the runs that a derived one is made of, which runs, and how."""
    if name.endswith("_mean") and name.removesuffix("_mean") in METRICS and name not in METRICS:
        return name.removesuffix("_mean"), has_value, mean
    return {
        "fpa_of_all": ("perfect_agreement", any_run, mean),
        "fpa_of_fitting": ("perfect_agreement", fits, mean),
        "generalization_index": ("solved_length", any_run, index(every_string=False)),
        "generalization_index_every_string": ("solved_length", any_run, index(every_string=True)),
    }.get(name)
