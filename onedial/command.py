"""The command `onedial`: the programs of experiments/ by short names, with the same options.

onedial sweep --model my/model --panel panel.csv        # = python experiments/steer_sweep.py ...
onedial                                                 # lists what there is
"""

import runpy
import sys
import types
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
"""Of the repository, where this runs from one; what is installed has the programs as `onedial.experiments`."""

COMMANDS = {
    "sweep": (
        "steer_sweep",
        "one vector, its magnitude swept, against a panel's yes and no: the verdict and its report",
    ),
    "judge": ("judge_run", "a finished run judged again, with its own panel or another; needs no model"),
    "multiverse": ("multiverse", "the verdict under other layers, contrasts, wordings and draws"),
    "dials": ("compare_dials", "directions, operators, adapters and instructions at equal yes rates"),
    "profile": ("ask profile", "what else moves when a run's dial is turned"),
    "ask noticing": ("ask noticing", "was I steered? an injected direction, beside a raised yes"),
    "gate": ("gate", "yes or no to new questions at a chosen attitude to risk"),
    "serve": ("serve", "a model at every setting of its dial, behind OpenAI's protocol"),
    "probe": ("train_probes", "what the residual stream knows about knowing, and whether it is used"),
    "study": ("study_panel", "a panel on one page: one scale? do surer models know more? do they know themselves?"),
    "factor": ("study_panel --deep", "is a panel one shared scale? (study --deep)"),
    "place": ("place", "a new model on a panel's scale from few answers, and what to ask it next"),
    "confidence": ("study_panel --confidence", "what a panel's confidence is worth (study --confidence)"),
    "panel collect": ("panel collect", "ask local models, providers and servers"),
    "panel import": ("panel import", "Inspect, lm-eval and other logs as a panel"),
    "panel export": ("panel export", "a panel in other people's formats"),
    "ask battery": ("ask battery", "models about themselves in every way: choices, pressure, second looks, ..."),
    "ask questionnaire": ("ask questionnaire", "self-efficacy and other scales"),
    "ask self-prediction": ("ask predict", "what would you answer, and what do you answer? (also: ask predict)"),
    "ask predict": ("ask predict", "the same"),
    "ask written": ("ask written", "what tells right answers from wrong ones: tokens, samples, or being asked"),
    "score self-prediction": ("ask score", "the Self-Execution study's scores of such answers"),
    "compare": ("compare_runs", "several runs on one page"),
    "view": ("view", "a page that lists the runs of a folder"),
    "doctor": ("doctor", "is everything here that the experiments need?"),
}
"""Words after `onedial` -> (program in experiments/, with its own word or option; what it is for)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program that the first words name; the rest are its own options.

    Returns:
        the program's exit code; 2 where the words name none, after one sentence on stderr.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(overview())
        return 0
    if given[0] == "--version":
        from onedial.core.options import Options, parse_options

        parse_options(Options, arguments=["--version"])
    for n_words in (2, 1):
        words = " ".join(given[:n_words])
        if words in COMMANDS and len(given) >= n_words:
            return run_program(words, given[n_words:])
    from onedial.core.suggestions import did_you_mean

    longer = [name for name in COMMANDS if name.startswith(f"{given[0]} ")]
    if longer:
        wanted = ", ".join(name.split(" ", 1)[1] for name in longer)
        print(f"error: onedial {given[0]} needs one more word: {wanted}", file=sys.stderr)
    else:
        near = did_you_mean(" ".join(given[:2]) if len(given) > 1 else given[0], list(COMMANDS))
        print(f"error: onedial knows no {given[0]!r}{near}; onedial --help lists what there is", file=sys.stderr)
    return 2


def run_program(words: str, options: Sequence[str]) -> int:
    """Run one of `COMMANDS` as if its file had been started; its own `--help` and errors then bear the short name."""
    (name, *part), before = COMMANDS[words][0].split(), sys.argv
    sys.argv = [f"onedial {words}", *part, *options]
    try:
        if (CHECKOUT / "pyproject.toml").is_file():  # also one that is not installed, or is installed from elsewhere
            package = types.ModuleType("onedial.experiments")
            package.__path__ = [str(CHECKOUT / "experiments")]
            sys.modules[package.__name__] = package
        runpy.run_module(f"onedial.experiments.{name}", run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return 0


def overview() -> str:
    """The list of commands, a line each."""
    width = max(map(len, COMMANDS))
    lines = [f"  {words:<{width}}  {what}" for words, (_, what) in COMMANDS.items()]
    return "\n".join(
        ["onedial: does one steering vector reproduce any model's yes and no about itself?", "", *lines, "",
         "Each has a --help of its own."]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
