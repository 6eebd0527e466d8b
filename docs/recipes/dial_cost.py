"""What the dial costs on a task: here one-digit sums, at the yes rates .1, .5 and .9 of a finished sweep.

Another task of Inspect in place of `sums()`, such as "inspect_evals/gsm8k", is all that changes.

    python dial_cost.py RUN OUT      # OUT gets dial_cost.csv and dial_cost.png
"""

import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate

from onedial.serving import dial_cost

PAIRS = [(a, b) for a in range(1, 9) for b in range(1, 10 - a)]
"""Whose sum has one digit."""


@task
def sums(pairs=PAIRS):
    """The sum of two digits, right where the text ends with it."""
    samples = [
        Sample(id=f"{a}+{b}", input=f"What is {a} + {b}? Answer with the number alone.", target=str(a + b))
        for a, b in pairs
    ]
    return Task(dataset=samples, solver=generate(max_tokens=10), scorer=match(location="end", numeric=True))


if __name__ == "__main__":
    run, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    cost = dial_cost(
        sums(),
        "smollm2-135m-instruct",
        yes_rates=[0.1, 0.5, 0.9],
        model_args={"run": run},
        log_dir=str(out / "logs"),
        display="none",
    )
    cost.to_frame().to_csv(out / "dial_cost.csv", index=False)
    cost.plot().figure.savefig(out / "dial_cost.png", bbox_inches="tight")
    print(cost.to_frame().to_string(index=False))
