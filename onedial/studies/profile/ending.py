"""From the answers to tables, figure, page and sentences."""

import pandas as pd

from onedial.asking.questions import questions_frame
from onedial.core.pulse import say
from onedial.core.run.run import Run
from onedial.panels.splits import wordings_of
from onedial.report.profile import write_profile
from onedial.selfreport.ask.self_reports import SELF_REPORTS
from onedial.selfreport.battery import BATTERY_REPORTS
from onedial.show.terminal import print_results
from onedial.stats.shares import wilson_interval
from onedial.studies.options.profile import ProfileOptions
from onedial.studies.profile.turning import Dial
from onedial.verdict.comparing.dial_profile import WRITING, profile_of, sureness_by_setting
from steering.effects.written import SURENESS_OF_WRITING


def finish(run: Run, dial: Dial, answers: pd.DataFrame, written: pd.DataFrame, options: ProfileOptions) -> None:
    """Tables, figure, page and sentences."""
    order = {name: place for place, name in enumerate((*SELF_REPORTS, *BATTERY_REPORTS, WRITING))}
    answers = answers.sort_values("report", key=lambda names: names.map(order), kind="stable")
    wordings = wordings_of(questions_frame(dial.questions))
    profile = profile_of(answers, max(options.replicates, 1), options.seed, wordings)
    accuracy, sentence = accuracy_of(written)
    surer = sureness_by_setting(written, SURENESS_OF_WRITING, max(options.replicates, 1), options.seed, wordings)
    sentences = [*profile.sentences(), sentence, how_sure_it_writes(surer)]
    asked = (
        f"{len(dial.questions)} questions; settings {', '.join(dial.names.values())}; {options.controls} random "
        "directions of the same length beside each."
    )
    settings = {str(magnitude): name for magnitude, name in dial.names.items()}
    summary = {"model": dial.model.identity.name, "sentences": sentences, "asked": asked, "settings": settings}
    tables = {name: getattr(profile, name) for name in ("cells", "reports", "orders", "truths")}
    stored, page = write_profile(run, {**tables, "accuracy": accuracy, "written": surer, "summary": summary})
    print_results(stored, " ".join(sentences))
    say(f"written to {run.path}; page: {page}")


def accuracy_of(written: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Share right among the graded answers at each setting, and whether the dial changes it."""
    grouped = written.groupby("magnitude")["correct"]
    n, right = grouped.count(), grouped.sum()
    low, high = wilson_interval(right, n)
    table = (right / n.where(n > 0)).to_frame("right").assign(low=low, high=high, n=n)
    table["n_no_answer"] = grouped.size() - n
    cells = [f"{row['right']:.2f} of {int(row['n'])} at {magnitude:+.3g}" for magnitude, row in table.iterrows()]
    return table, f"The answers themselves are right: {', '.join(cells)}."


def how_sure_it_writes(surer: pd.DataFrame) -> str:
    """What becomes of the log-probability of a setting's own answers."""
    turned = surer.drop(index=0.0, errors="ignore")
    if turned.empty:
        return "What it writes at other settings was not asked."
    cells = [
        f"{row['change']:+.2f} ({row['low']:+.2f} to {row['high']:+.2f}) at {magnitude:+.3g}"
        for magnitude, row in turned.iterrows()
    ]
    unsteered = float(surer[WRITING].loc[0.0])
    return f"The {WRITING} of what it writes there, against {unsteered:.2f} unsteered: {', '.join(cells)}."
