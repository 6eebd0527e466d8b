"""Ask a subject whether it notices an injected direction: `experiments/ask.py noticing`."""

import pandas as pd

from onedial.core.run.notes import Notes
from onedial.show.ending import Opening, end, of_tables
from onedial.show.plots import Points, forest
from onedial.show.results import Stored
from onedial.studies.options.noticing import NoticingOptions
from onedial.studies.start import Start
from steering.effects.noticing import (
    ANSWER_COLUMNS,
    ANSWER_KEY,
    CONCEPTS,
    KINDS,
    conclusions_of,
    noticing_of_model,
    noticing_scores,
    sentence_of,
)

ANSWERS = "answers.csv"
QUESTION = "Does {} notice a direction that is injected?"
LEAD = (
    "Shifts are in nats of yes against no, means over concepts with 95% intervals. Detection is the shift of the "
    "noticing question less that of questions whose right answer is no; contrast is half the difference from the "
    "reversed wording. Both must lie above 0, and detection above that of random directions, for a direction to be "
    "noticed."
)


def ask_noticing(program: str, options: NoticingOptions, notes: Notes) -> None:
    """Ask, score, conclude; answers that are on disk are not asked again."""
    start = Start(program, options, f"noticing-{options.model}")
    model = start.load_subject(options)
    layer = 3 * model.n_layers // 5 if options.layer is None else options.layer
    model.check_layers([layer])
    with start.begin(notes, model) as run:
        run.record(layer=layer, seeds={"all": options.seed})
        if not run.has(ANSWERS):
            with run.stage("asking"):
                answers = noticing_of_model(
                    model,
                    layer,
                    options.magnitudes,
                    concepts=options.concepts or CONCEPTS,
                    positions=options.positions,
                    seed=options.seed,
                    parts=run.parts("answers", ANSWER_COLUMNS, ANSWER_KEY),
                )
                run.write_table(ANSWERS, answers)
        answers = run.read_table(ANSWERS).fillna({"option": "", "concept": ""})
        scores = noticing_scores(answers)
        conclusions = conclusions_of(answers, scores)
        concluded = scores["magnitude"].map(conclusions).where(scores["kind"] == KINDS[0], "")
        table = scores.set_index(["magnitude", "kind"])
        table.insert(0, "conclusion", concluded.to_numpy())
        sentence = sentence_of(conclusions, scores)
        run.record(sentence=sentence)
        drawing = forest(_labelled(scores), "detection", "detection, in nats", Points(by="kind"))
        results = of_tables([], {"detection": table}, {"detection": drawing})
        end(Stored(run, results), Opening(QUESTION.format(model.identity.name), sentence, LEAD), case=results)


def _labelled(scores: pd.DataFrame) -> pd.DataFrame:
    """Named by magnitude, for a picture."""
    return scores.set_index(pd.Index([f"at {magnitude:g}" for magnitude in scores["magnitude"]])).rename(
        columns={"detection_low": "low", "detection_high": "high"}
    )
