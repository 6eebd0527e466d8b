"""What is asked at each setting: the questions themselves, and every instrument, beside random directions.

What the subject writes is read as well: each setting's own answers, and the unsteered answers under every push. The
second is one more instrument (`WRITING`), for which nothing is asked.

written/  answers/
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.sweep_tables import VECTOR
from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.panels.grading.closed_book import grade_closed_book
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, SelfReport
from onedial.selfreport.battery import BATTERY_REPORTS
from onedial.show.progress import progress_bar
from onedial.studies.options.profile import ProfileOptions
from onedial.studies.profile.turning import Dial
from onedial.verdict.comparing.dial_profile import PROFILE_COLUMNS, WRITING
from steering.asking import ask_settings
from steering.effects.written import SURENESS_OF_WRITING, written_along
from steering.interventions import Intervention
from steering.respondent import ask_along
from steering.vectors import random_vector

WRITTEN_KEY = ["question_id", "magnitude"]
TEXTS_AT_ONCE = 8
"""So many answers are read under all pushes before they are on disk."""


def closed_book(run: Run, dial: Dial, options: ProfileOptions) -> pd.DataFrame:
    """What the subject answers to the questions themselves, unsteered and (but for --no-answers) at every setting."""
    columns = [*WRITTEN_KEY, "text", *SURENESS_OF_WRITING]
    parts = run.parts("written", columns, WRITTEN_KEY)
    done = {float(magnitude) for magnitude in parts.read()["magnitude"]}
    settings = [0.0] if options.no_answers else [0.0, *dial.magnitudes]
    with progress_bar(len(settings), "answers") as advance:
        for magnitude in settings:
            if magnitude not in done:
                rows = ask_along(dial.model, dial.intervention, [magnitude], dial.questions, CLOSED_BOOK)
                rows = rows.rename(columns={"raw_text": "text"})[[*WRITTEN_KEY, "text"]]
                asked = {each.id: CLOSED_BOOK.prompt(each.text) for each in dial.questions}
                read = written_along(
                    dial.model,
                    [asked[name] for name in rows["question_id"]],
                    rows["text"].fillna("").str.strip().tolist(),
                    rows["question_id"].tolist(),
                    [dial.intervention],
                    [magnitude],
                )
                parts.append(rows.merge(read[["question_id", *SURENESS_OF_WRITING]], on="question_id"))
            advance(1)
    table = parts.read()
    graded = grade_closed_book(table.assign(model=dial.model.identity.name), dial.questions)
    return table.assign(outcome=graded["outcome"].to_numpy(), correct=graded["correct"].to_numpy(float))


def items_of(report: SelfReport, dial: Dial, written: pd.DataFrame, seed: int) -> list[Item]:
    """What the report is about; the answers proposed to P(True) are the subject's own, unsteered at every setting."""
    if report.items is not None:
        return report.items(dial.questions, seed)
    own = written[written["magnitude"] == 0].set_index("question_id")
    right = own["correct"].to_dict()
    if report.about == "questions":
        able = {key: 1 - value if report.right_if_unable else value for key, value in right.items()}
        return [
            Item(each.id, {"question": each.text}, truth=able.get(each.id, float("nan"))) for each in dial.questions
        ]
    texts = own["text"].fillna("").str.strip()
    return [
        Item(each.id, {"question": each.text, "answer": texts[each.id]}, truth=right[each.id])
        for each in dial.questions
        if texts.get(each.id)
    ]


def ask_everything(
    run: Run,
    dial: Dial,
    names: Sequence[str],
    written: pd.DataFrame,
    options: ProfileOptions,
    notes: Notes,
) -> pd.DataFrame:
    """Ask what is not on disk yet; every score, of the vector and of random directions.

    Args:
        names: keys of `SELF_REPORTS` and `BATTERY_REPORTS`, and `WRITING`.
    """
    of = dial.intervention
    directions = [
        Intervention.of(
            *(random_vector(vector, options.seed * 1000 + number + 1) for vector in of.vectors),
            role="random",
            operator=of.operator,
            positions=of.positions,
            unit=of.unit,
        )
        for number in range(options.controls)
    ]
    interventions = [of, *directions]
    roles = {each.intervention_id: each.role for each in interventions} | {of.intervention_id: VECTOR}
    grids = {each.intervention_id: list(dial.magnitudes) for each in directions}
    grids[of.intervention_id] = [0.0, *dial.magnitudes]
    key = ["report", "form", "question_id", "intervention_id", "magnitude"]
    parts = run.parts("answers", [*PROFILE_COLUMNS, "spread", "mass"], key)
    known = parts.read()
    known_reports = SELF_REPORTS | BATTERY_REPORTS
    reports = [known_reports[name] for name in names if name in known_reports]
    forms = [(report, form) for report in reports for form in report.forms]
    items_by_report = {report.name: items_of(report, dial, written, options.seed) for report in reports}
    with progress_bar(len(forms) + (WRITING in names), "instruments") as advance:
        for report, form in forms:
            asked = known[(known["report"] == report.name) & (known["form"] == form)]
            items = items_by_report[report.name]
            instrument = report.forms[form]
            own = report
            if report.name == "can you answer":
                instrument = instrument.framed(dial.template)
                own = replace(report, forms={form: instrument})
            truth = {item.item_id: item.truth for item in items if instrument.scale.kind == "yes/no"}

            def keep(
                rows: pd.DataFrame, own: SelfReport = own, form: str = form, items: Any = items, truth: Any = truth
            ) -> None:
                parts.append(
                    rows.assign(
                        report=own.name,
                        form=form,
                        role=rows["intervention_id"].map(roles),
                        score=own.scores(form, rows, items),
                        truth=rows["question_id"].map(truth).astype(float),
                    )
                )

            try:
                ask_settings(
                    dial.model,
                    [own.prompt(form, item) for item in items],
                    [item.item_id for item in items],
                    instrument,
                    interventions,
                    grids,
                    sink=keep,
                    done=set(asked["question_id"]),
                )
            except InputError as error:
                notes.tell(f"{report.name} ({form}) is left out: {error}")
            advance(1)
        if WRITING in names:
            done = set(known.loc[known["report"] == WRITING, "question_id"])
            for rows in read_unsteered_answers(dial, written, interventions, grids, done):
                parts.append(rows.assign(role=rows["intervention_id"].map(roles)))
            advance(1)
    return parts.read()


def read_unsteered_answers(
    dial: Dial,
    written: pd.DataFrame,
    interventions: Sequence[Intervention],
    grids: dict[str, list[float]],
    done: Collection[str],
) -> Iterator[pd.DataFrame]:
    """How likely the subject finds its own unsteered answers under every push, a few answers at a time."""
    own = written[(written["magnitude"] == 0) & (written["text"].fillna("").str.strip() != "")]
    texts = dict(zip(own["question_id"], own["text"].str.strip(), strict=True))
    questions = [each for each in dial.questions if each.id in texts]
    for first in range(0, len(questions), TEXTS_AT_ONCE):
        some = questions[first : first + TEXTS_AT_ONCE]
        if not {each.id for each in some} <= set(done):
            read = written_along(
                dial.model,
                [CLOSED_BOOK.prompt(each.text) for each in some],
                [texts[each.id] for each in some],
                [each.id for each in some],
                interventions,
                grids,
            )
            yield read.rename(columns={WRITING: "score"}).assign(
                report=WRITING, form="plain", truth=float("nan"), spread=float("nan"), mass=1.0
            )
