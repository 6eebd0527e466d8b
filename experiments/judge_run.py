"""Match and verdict again from the tables of a run, with its own panel or another one. Needs no model.

    python experiments/judge_run.py RUN                                 # the run's own panel; rewrites RUN's results
    python experiments/judge_run.py RUN --panel other.csv --out other   # a new run directory; RUN stays as it is

Another panel is joined to the run's questions by id, or by text where ids do not meet; questions keep the split they
had. Control directions that the run has swept at the same layer (`...-random-1`, `...-random-2`, ...) are ranked
against the vector.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from common import InputError
from common.command_line import run_command

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import ResponseMatrix
    from matching import Verdict
    from reporting import RunDirectory


def main() -> None:
    options = parse_options()
    from elicitation import load_panel, panel_from_long
    from reporting import RunDirectory
    from reporting.report import write_report
    from reporting.terminal import print_summary

    run = RunDirectory.open(options.run)
    if options.panel is None:
        panel = panel_from_long(run.panel())
    else:
        out = options.out or run.path / f"judged-{Path(options.panel).stem}"
        run, panel = with_panel(run, load_panel(options.panel, options.respondents), str(options.panel), out)
    seed = options.seed if options.seed is not None else int(run.config.get("seed") or 0)
    with run.stage("match and verdict"):
        verdict = match_and_judge(run, panel, seed)
    with run.stage("report"):
        report = write_report(run)
    print_summary(run.matches(), verdict.to_dict())
    print(f"report: {report}")


def match_and_judge(run: "RunDirectory", panel: "ResponseMatrix", seed: int) -> "Verdict":
    """Match the panel with the run's vector, judge, and write matches.csv, verdict.json and factor.json.

    factor.json is left out, and thresholds are Phi^-1 of the yes rates, where the panel is too small for a factor.

    Raises:
        InputError: the run has no sweep, or its tables do not fit together.
    """
    from matching import control_signals, judge, judged_targets, match_targets
    from psychometrics import fit_factor_model

    sweep = run.read_sweep()
    if sweep.empty:
        raise InputError(f"{run.path} holds no sweep to match with; finish the run with --resume")
    own, controls = vectors_of(run, sweep)
    splits = run.questions().set_index("id")["split"]
    try:
        factor = fit_factor_model(panel, seed=seed)
    except InputError as reason:
        run.log(f"no factor model: {reason}")
        factor = None
    thresholds = None if factor is None else factor.thresholds
    matches = match_targets(sweep, panel, splits, thresholds, vector_id=own, seed=seed)
    signals = control_signals(sweep, panel, judged_targets(matches.table), controls, splits) if controls else None
    verdict = judge(matches, control_signals=signals, seed=seed)
    run.write_matches(matches.table)
    if factor is not None:
        run.write_factor(factor)
    run.write_verdict(verdict.to_dict())
    return verdict


def vectors_of(run: "RunDirectory", sweep: "pd.DataFrame") -> tuple[str, list[str]]:
    """The vector that the run is about, and the control directions swept at its layer.

    Raises:
        InputError: the sweep holds several vectors and the manifest names none of them.
    """
    layers = sweep.drop_duplicates("vector_id").set_index("vector_id")["layer"]
    own = str(layers.index[0] if len(layers) == 1 else run.manifest.get("vector_id"))
    if own not in layers.index:
        raise InputError(
            f"{run.path}/manifest.json names the vector {own!r}, but the sweep holds "
            f"{', '.join(map(str, layers.index[:4]))}; make the run again"
        )
    same_layer = layers.index[layers == layers[own]]
    return own, [str(name) for name in same_layer if name != own and re.search(r"(^|-)random-\d+$", str(name))]


def with_panel(
    source: "RunDirectory", panel: "ResponseMatrix", name: str, out: Path
) -> tuple["RunDirectory", "ResponseMatrix"]:
    """A new run directory with the source's sweep of the questions that the panel answers, and that panel.

    Raises:
        InputError: `out` is taken, or the panel answers none of the run's questions.
    """
    from elicitation import join_questions_and_panel, panel_long, questions_from_frame
    from reporting import RunDirectory

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is taken; choose a new or empty folder with --out")
    questions = source.questions()
    shared, panel, report = join_questions_and_panel(questions_from_frame(questions), panel)
    print(report)
    kept = [question.id for question in shared]
    sweep = source.read_sweep()
    run = RunDirectory.create(out, {**source.config, "panel": name, "judged_from": source.path.resolve()})
    run.record(**{key: value for key, value in source.manifest.items() if key not in run.manifest})
    run.write_questions(questions.set_index("id").loc[kept].reset_index())
    run.write_panel(panel_long(panel))
    run.write_prompt(source.prompt()[0])
    run.write_part(sweep[sweep["question_id"].isin(kept)])
    if (scan := source.layer_scan()) is not None:
        run.write_layer_scan(scan)
    return run, panel


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of a run")
    parser.add_argument("--panel", metavar="FILE", help="another panel (CSV, JSONL, Parquet), or 'embedded'")
    parser.add_argument("--respondents", type=Path, metavar="FILE", help="what is known of that panel's respondents")
    parser.add_argument("--out", type=Path, help="new folder, with --panel (default RUN/judged-<name of the panel>)")
    parser.add_argument("--seed", type=int, help="of resamples and permutations (default: the run's)")
    options = parser.parse_args()
    if options.panel is None and (options.out or options.respondents):
        parser.error("--out and --respondents belong to another panel; give it with --panel")
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))
