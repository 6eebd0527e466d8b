"""Does the rule of the dial's profile say what is so? Its answers in simulated subjects with a known truth.

    python scripts/simulate_profile.py                        # 200 subjects of each kind; a few minutes on one core
    python scripts/simulate_profile.py --subjects 1000 --table simulated.csv

An instrument's item scores have standard deviation 1 unsteered. A push d in a setting m = -2, -1, 1, 2 moves item i by

    (m / 1.5) (g_d + h_di) + e        so that `together` is g_d on average

g_d: what the push does to all items, drawn with standard deviation `random pushes` for the random directions; h_di (.3)
what it does to an item besides; e (.1) what a setting adds. The vector's own g is drawn like the others' (effect "as
random") or planted. Printed: share of subjects in which each verdict is given, as in "0.1, 0.5": pushes of .1, an
effect of .5.
"""

import argparse
import sys
from pathlib import Path

from onedial.core import positive, program_parser, run_command

SETTINGS = (-2.0, -1.0, 1.0, 2.0)
PER_ITEM, NOISE = 0.3, 0.1
SCENARIOS: tuple[tuple[float, float | None], ...] = (
    *((0.0, 0.0), (0.1, None), (0.5, None), (2.0, None)),
    *((0.1, 0.2), (0.1, 0.5), (0.1, 1.0), (0.5, 0.5), (0.5, 1.0), (0.5, 2.0)),
)
"""(standard deviation of what random pushes do, what the vector does; None = drawn as they are)"""


def main() -> None:
    options = parse_options()
    import pandas as pd

    from onedial.show import progress_bar
    from onedial.verdict import PROFILE_VERDICTS

    rows = []
    with progress_bar(len(SCENARIOS), "scenarios") as advance:
        for number, (pushes, effect) in enumerate(SCENARIOS):
            said: dict[str, int] = {}
            for subject in range(options.subjects):
                verdict = one_verdict(pushes, effect, options, options.seed * 1_000_003 + number * 10_007 + subject)
                said[verdict] = said.get(verdict, 0) + 1
            shares = {name.replace(" ", "_"): said.get(name, 0) / options.subjects for name in PROFILE_VERDICTS}
            case = f"{pushes:g}, {'as random' if effect is None else f'{effect:g}'}"
            rows.append({"case": case} | shares)
            advance(1)
    table = pd.DataFrame(rows)
    print(
        f"{options.subjects} subjects of each kind, {options.n_questions} items, {options.controls} random directions: "
        f"share given each verdict\n{table.round(3).to_string(index=False)}"
    )
    if options.table:
        table.to_csv(options.table, index=False)


def one_verdict(pushes: float, effect: float | None, options: argparse.Namespace, seed: int) -> str:
    """What the rule says of one simulated subject's one instrument."""
    import numpy as np
    import pandas as pd

    from onedial.asking import VECTOR
    from onedial.verdict import PROFILE_COLUMNS, profile_of

    rng = np.random.default_rng(seed)
    base = rng.normal(size=options.n_questions)
    ids = np.array([f"q{item}" for item in range(options.n_questions)], dtype=object)
    frames = []
    for number in range(options.controls + 1):
        g = rng.normal(0, pushes) if number or effect is None else effect
        per_item = g + rng.normal(0, PER_ITEM, options.n_questions)
        for magnitude in (0.0, *SETTINGS) if number == 0 else SETTINGS:
            moved = magnitude / 1.5 * per_item + (rng.normal(0, NOISE, options.n_questions) if magnitude else 0)
            frames.append(
                pd.DataFrame(
                    {
                        "report": "instrument",
                        "form": "plain",
                        "question_id": ids,
                        "intervention_id": "dial" if number == 0 else f"random {number}",
                        "role": VECTOR if number == 0 else "random",
                        "magnitude": magnitude,
                        "score": base + moved,
                        "truth": np.nan,
                    },
                    columns=PROFILE_COLUMNS,
                )
            )
    profile = profile_of(pd.concat(frames, ignore_index=True), options.replicates, seed)
    return str(profile.reports["verdict"].iloc[0])


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--subjects", type=positive, default=200, help="of each kind (%(default)s)")
    parser.add_argument("--n-questions", type=positive, default=40, help="of an instrument (%(default)s)")
    parser.add_argument("--controls", type=positive, default=19, help="random directions (%(default)s)")
    parser.add_argument("--replicates", type=positive, default=399, help="of the bootstrap (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of everything (%(default)s)")
    parser.add_argument("--table", type=Path, help="also write the shares there, as CSV")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(run_command(main))
