"""Yes or no to new questions at a chosen risk attitude, yes rate, or as a target would say it.

    onedial gate --run runs/MY-SWEEP --beta 0.5 --save my-gate                # choose and save; needs no model
    onedial gate --run runs/MY-SWEEP --yes-rate 0.3 --save my-gate
    onedial gate --run runs/MY-SWEEP --target "GPT-4 neutral" --save my-gate
    onedial gate --run runs/MY-SWEEP --target runs/MY-PLACING --save my-gate  # few answers
    onedial gate my-gate "Who wrote Emma?" "What is the capital of Peru?"     # one load
    echo "Who wrote Emma?" | onedial gate my-gate -                           # a question per line

A gate is chosen on the fitting split of a finished sweep; precision, recall and yes rate to be expected are counted on
its test split. As a library: `gate = Gate.load("my-gate"); gate.answer(load_model(gate.model), questions)`.
"""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import Options, declared, flag, option
from onedial.core.pulse import say
from onedial.core.run.notes import Notes, program
from onedial.core.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from onedial.asking.tables import Table
    from onedial.verdict.sweep_run import SweepRun

WORDS, UNREAD = {1.0: "yes", 0.0: "no"}, "unread"
SAYS_THE_SAME = "{} says the same to every fitting question (yes rate {}); choose --yes-rate"


CHOICES = ("beta", "yes_rate", "target")


@dataclass(frozen=True, kw_only=True)
class ChoosingOptions(Options, group="choosing a gate"):
    """From which run, and by what."""

    run: Path | None = option(None, "a finished run of onedial sweep", needs=("save",))
    beta: float | None = option(
        None, "risk attitude: 0.5 punishes a wrong yes, 2 a missed one", needs=("run",), excludes=("yes_rate", "target")
    )
    yes_rate: float | None = option(None, "share of the questions to say yes to", needs=("run",), excludes=("target",))
    target: str | None = option(
        None, "whose yes rate is taken: a target of the run's panel, or the folder of a place run", needs=("run",)
    )
    save: Path | None = option(None, "folder to save the gate in", needs=("run",))


@dataclass(frozen=True, kw_only=True)
class GateOptions(ChoosingOptions, group="answering"):
    """Which gate, and which questions."""

    gate: Path | None = option(None, "folder of a saved gate", positional=True, excludes=("run",))
    questions: tuple[str, ...] = option((), "to answer; - reads one per line", positional=True, leading_hyphen=True)
    model: str | None = option(None, "where the subject lies now (the name it was loaded by)")

    def check(self) -> None:
        """A gate is chosen by one thing, or there already."""
        super().check()
        if self.run is None and self.gate is None:
            raise InputError("give a saved gate and questions, or --run with --beta, --yes-rate or --target and --save")
        if self.run is not None and all(getattr(self, name) is None for name in CHOICES):
            raise InputError("with --run give one of --beta, --yes-rate, --target")
        for text in self.questions:
            if text.startswith("-") and text != "-":
                raise InputError(f"{text} is no option{did_you_mean(text, map(flag, declared(self)))}")


def gate(options: GateOptions, _: Notes) -> None:
    if options.run:
        return choose(options)
    return answer(options)


def choose(options: GateOptions) -> None:
    from onedial.asking.prompts import load_prompt
    from onedial.serving.dial import intervention_of
    from onedial.verdict.sweep_run import SweepRun
    from steering.dials.gate import choose_gate

    assert options.run is not None
    assert options.save is not None
    sweep_run = SweepRun.open(options.run)
    name = sweep_run.under_test()
    table = sweep_run.sweep()
    questions = sweep_run.questions().set_index("id")
    correct = questions["subject_correct"].astype(float) if "subject_correct" in questions else None
    rate, words = options.yes_rate, ""
    if options.target is not None and (placed := Path(options.target)).is_dir():
        rate, interval = placed_rate(sweep_run, placed)
        words = f"chosen for the yes rate of {placed}, {rate:.2f} (95% interval {interval[0]:.2f} to {interval[1]:.2f})"
    elif options.target is not None:
        rate, words = target_rate(sweep_run, options.target)
    gate = choose_gate(
        table[table["intervention_id"] == name],
        sweep_run.splits(),
        intervention_of(sweep_run),
        load_prompt(sweep_run.config["prompt"]),
        beta=options.beta,
        yes_rate=rate,
        correct=correct,
        choice=words,
    )
    gate.save(options.save)
    for line in gate.lines():
        say(line)
    say(f"saved to {options.save}")


def placed_rate(sweep_run: "SweepRun", folder: Path) -> tuple[float, tuple[float, float]]:
    """The yes rate on the fitting split of a respondent that place.py has placed (`rate_over`), and its 95%
    interval."""
    import pandas as pd

    from onedial.asking.tables import name_of, read_table
    from onedial.scale.place.placement import rate_over

    for name in ("steps.csv", "predictions.csv"):
        if not (folder / name).is_file():
            raise InputError(f"{folder} holds no {name}; give the folder of onedial place with --answers or --model")

    def column(table: "Table", name: str) -> "pd.Series":
        ids = table.parse("question_id", name_of, "place it again")
        return pd.Series(table.parse(name, float, "place it again"), ids, dtype=float)

    predictions, steps = read_table(folder / "predictions.csv"), read_table(folder / "steps.csv")
    predictions.require("question_id", "probability")
    steps.require("question_id", "said_yes", "threshold", "low", "high")
    given = replace(steps, frame=steps.frame[1:].reset_index(drop=True), places=steps.places[1:])
    answers = column(given, "said_yes")
    threshold, low, high = (column(given, name).iloc[-1] for name in ("threshold", "low", "high"))
    splits = sweep_run.splits()
    fitting = pd.concat([answers, column(predictions, "probability")]).reindex(splits.index[splits == "fitting"])
    expected = fitting.dropna().to_numpy()
    if 2 * len(expected) < len(fitting):
        raise InputError(
            f"{folder} was placed by other questions than the run's: it knows {len(expected)} of the {len(fitting)} "
            "fitting questions; place it on the run's panel"
        )
    if not 0 < expected.mean() < 1:
        raise InputError(SAYS_THE_SAME.format(folder, expected.mean()))
    rate, *interval = rate_over(expected, threshold, low, high)
    return rate, (interval[0], interval[1])


def target_rate(sweep_run: "SweepRun", target: str) -> tuple[float, str]:
    """The target's yes rate on the fitting split."""
    if not sweep_run.has_panel:
        raise InputError(
            f"{sweep_run.path} was made without a panel, so it knows no target; choose --yes-rate or --beta"
        )
    panel = sweep_run.panel()
    answers = panel[panel["respondent"] == target]
    if answers.empty:
        known = ", ".join(sorted(panel["respondent"].unique())[:6])
        raise InputError(
            f"the run's panel has no target {target!r}, and no folder of onedial place has this name; its targets: "
            f"{known}"
        )
    fitting = answers["question_id"].map(sweep_run.splits()) == "fitting"
    rate = float(answers.loc[fitting, "said_yes"].mean())
    if not 0 < rate < 1:
        raise InputError(SAYS_THE_SAME.format(target, rate))
    return rate, f"chosen for the yes rate of {target}, {rate:.2f}"


def answer(options: GateOptions) -> None:
    from onedial.models.model import load_model
    from onedial.models.threads import quiet_libraries
    from steering.dials.gate import Gate

    assert options.gate is not None
    gate = Gate.load(options.gate)
    given = list(options.questions)
    questions = [line.strip() for line in sys.stdin or () if line.strip()] if given == ["-"] else given
    if not questions:
        raise InputError("no question was given; write questions after the gate, or - to read one per line")
    for line in gate.lines():
        print(line, file=sys.stderr)
    quiet_libraries()
    answers = gate.answer(load_model(options.model or gate.model), questions)
    for answer, margin, question in answers[["said_yes", "margin", "question"]].to_numpy():
        print(f"{WORDS.get(float(answer), UNREAD)}\t{margin:+.2f}\t{question}")


main = program(GateOptions, gate, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
