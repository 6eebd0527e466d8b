"""Would the verdict of this run have told the truth? Panels with a known truth, judged with the run's own sweep.

    python scripts/calibrate_run.py RUN                       # 100 panels of each kind, a few minutes on one core
    python scripts/calibrate_run.py RUN --seeds 20 --noise 2

    steered     targets cut from the subject's own margins at magnitudes spread over the run's range, with noise on the
                margin of `--noise` times the spread of the unsteered margins over questions
    permuted    the same panels with their rows permuted: what the targets share with each other is kept, what they
                share with the subject is gone

`scripts/calibrate_verdict.py` asks the same of simulated subjects; here the margins are a model's. The program
prints how often each answer was given to the first two questions (the third needs controls, of which these panels have
none) and ends with exit code 1 where a mark is missed: of 100 permuted panels at most 11 may be said to be reproduced
or to share a signal, of 100 steered ones at most 10 may get "not reproduced".
"""

import argparse
import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import positive, program_parser, run_command

if TYPE_CHECKING:
    import pandas as pd

    from onedial.verdict import Verdict

KINDS = ("steered", "permuted")
QUESTIONS = {"reproduced": "Is it reproduced?", "dial": "What is the dial?"}


def main() -> int:
    options = parse_options()
    import pandas as pd

    from onedial.panels import SPLITS
    from onedial.verdict import SweepRun

    run = SweepRun.open(options.run)
    own, sweep = run.under_test(), run.sweep()
    sweep = sweep[sweep["intervention_id"] == own]
    sweep = sweep.assign(split=sweep["question_id"].map(run.splits()))
    told: dict[str, dict[str, Counter[str]]] = {name: {kind: Counter() for kind in KINDS} for name in QUESTIONS}
    for seed in range(options.seeds):
        for kind in KINDS:
            verdict = one_verdict(sweep, kind, seed, options)
            for name in QUESTIONS:
                told[name][kind][getattr(verdict, name)] += 1
    counts = sweep.drop_duplicates("question_id")["split"].value_counts().reindex(SPLITS).to_dict()
    print(
        f"{run.path}: {own}, questions {counts}; {options.seeds} panels of {options.n_targets} targets; times said:\n"
    )
    for name, question in QUESTIONS.items():
        print(pd.DataFrame(told[name]).fillna(0).astype(int).rename_axis(question).to_string(), end="\n\n")
    failures = missed_marks(told["reproduced"], options.seeds)
    for failure in failures:
        print(f"missed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def one_verdict(sweep: "pd.DataFrame", kind: str, seed: int, options: argparse.Namespace) -> "Verdict":
    """The verdict on one panel; the permuted one of a seed has the answers of the steered one."""
    import numpy as np

    from onedial.verdict import judge, match_targets
    from onedial.verdict.simulation import framings_of, steered_targets

    rng = np.random.default_rng(seed)
    spread = float(sweep.loc[sweep["magnitude"] == 0, "margin"].std())
    panel = steered_targets(rng, sweep, options.n_targets, noise=options.noise * spread)
    if kind == "permuted":
        panel = panel.set_axis(rng.permutation(panel.index.to_numpy()))
    matches = match_targets(sweep, panel, respondents=framings_of(panel.columns), n_bootstrap=19, seed=seed)
    return judge(matches, options.n_permutations, options.n_permutations, seed=seed, line_permutations=19)


def missed_marks(reproduced: dict[str, Counter[str]], n_seeds: int) -> list[str]:
    """What the module's docstring promises and these counts do not keep."""
    from onedial.verdict.verdict import NOT_ENOUGH, NOT_REPRODUCED, REPRODUCED

    wrong = reproduced["permuted"][NOT_ENOUGH] + reproduced["permuted"][REPRODUCED]
    blind = reproduced["steered"][NOT_REPRODUCED]
    most_wrong, most_blind = math.ceil(0.11 * n_seeds), math.ceil(0.10 * n_seeds)
    missed = []
    if wrong > most_wrong:
        missed.append(f"permuted: a signal is claimed of {wrong} panels, at most {most_wrong} may be")
    if blind > most_blind:
        missed.append(f"steered: {blind} panels got {NOT_REPRODUCED!r}, at most {most_blind} may")
    return missed


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of a run")
    parser.add_argument("--seeds", type=positive, default=100, help="panels of each kind (default 100)")
    parser.add_argument("--n-targets", type=positive, default=12, help="targets, three to a base model (default 12)")
    parser.add_argument("--noise", type=float, default=1.0, help="on the margin, in spreads of it (default 1)")
    parser.add_argument("--n-permutations", type=positive, default=999, help="permutations and resamples (default 999)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run_command(main))
