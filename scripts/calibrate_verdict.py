"""How often does the verdict say what is true?

    python scripts/calibrate_verdict.py                  # 100 seeds, about 2 minutes on one core
    python scripts/calibrate_verdict.py --seeds 10 --n-questions 1000

Margins and answers are synthetic (`matching.simulation` says how each kind of target is made): what is studied
is the procedure, no model. For each kind of target the table counts how often each sentence was said, and gives the
medians of what a reader would look at first: agreement, the majority answer's, and R^2 of magnitude on threshold over
all targets and over the `ok` ones, with its null. The program ends with exit code 1 where a mark is missed:

    unrelated    anything but "not reproduced" in at most 11 of 100
    base rates   the same, but for "cannot be judged": with few questions too few of them are answered the rare way
    steered      "not reproduced" in at most 10 of 100
    moved cut    "not reproduced" in at most 10, "reproduced" in any form in at most 11 of 100
"""

import argparse
import math
import sys
from collections import Counter

from common import program_parser


def main() -> int:
    options = parse_options()
    import pandas as pd

    from matching.simulation import TARGETS

    told, seen = {}, {}
    for kind in TARGETS:
        verdicts = [one_verdict(kind, seed, options) for seed in range(options.seeds)]
        told[kind] = Counter(verdict.sentence for verdict in verdicts)
        seen[kind] = {
            "agreement": [verdict.agreement for verdict in verdicts],
            "majority": [verdict.majority for verdict in verdicts],
            "moved cut": [verdict.moved_cut for verdict in verdicts],
            "R^2 all": [verdict.line.r2_all for verdict in verdicts],
            "n ok": [verdict.line.n for verdict in verdicts],
            "R^2 ok": [verdict.line.r2 for verdict in verdicts],
            "its null": [verdict.line.r2_null_median for verdict in verdicts],
        }
    print(f"{options.n_questions} questions, {options.n_targets} targets, {options.seeds} seeds; times said:\n")
    print(pd.DataFrame(told).fillna(0).astype(int).to_string())
    medians = {kind: pd.DataFrame(figures).median() for kind, figures in seen.items()}
    print("\nmedians over seeds:\n")
    print(pd.DataFrame(medians).T.to_string(float_format="{:.2f}".format, na_rep="-"))
    failures = missed_marks(told, options.seeds)
    for failure in failures:
        print(f"missed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def one_verdict(kind, seed, options):
    """The verdict on one simulated subject and panel."""
    import numpy as np

    from matching import judge, match_targets
    from matching.simulation import TARGETS, framings_of, simulate_sweep

    rng = np.random.default_rng([seed, *kind.encode()])
    sweep = simulate_sweep(rng, options.n_questions)
    panel = TARGETS[kind](rng, sweep, options.n_targets)
    matches = match_targets(sweep, panel, respondents=framings_of(panel.columns), n_bootstrap=99, seed=seed)
    return judge(matches, options.n_permutations, options.n_permutations, seed=seed)


def missed_marks(told: dict[str, Counter[str]], n_seeds: int) -> list[str]:
    """What the module's docstring promises and these counts do not keep."""
    from matching.verdict import CANNOT_BE_JUDGED, NOT_REPRODUCED

    few, many = math.ceil(0.11 * n_seeds), math.ceil(0.10 * n_seeds)
    missed = []
    for kind, right in (("unrelated", [NOT_REPRODUCED]), ("base rates", [NOT_REPRODUCED, CANNOT_BE_JUDGED])):
        wrong = n_seeds - sum(told[kind][sentence] for sentence in right)
        if wrong > few:
            missed.append(f"{kind}: {wrong} runs say anything but {NOT_REPRODUCED!r}, at most {few} may")
    missed += [
        f"{kind}: {told[kind][NOT_REPRODUCED]} runs say {NOT_REPRODUCED!r}, at most {many} may"
        for kind in ("steered", "moved cut")
        if told[kind][NOT_REPRODUCED] > many
    ]
    praised = sum(times for sentence, times in told["moved cut"].items() if sentence.startswith("reproduced"))
    if praised > few:
        missed.append(f"moved cut: {praised} runs say 'reproduced', at most {few} may")
    return missed


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="simulated panels of each kind (default 100)")
    parser.add_argument("--n-questions", type=int, default=400, help="questions of each (default 400)")
    parser.add_argument("--n-targets", type=int, default=18, help="targets, three to a base model (default 18)")
    parser.add_argument("--n-permutations", type=int, default=999, help="permutations and resamples (default 999)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
