"""Answer as a subject at one setting of its dial: a respondent like any other.

    subject = SteeredRespondent(model, Intervention.of(vector, positions="all"), 0.12)
    answers_in_order(subject, prompts, CAN_YOU_ANSWER)       # so every instrument can be put to it

Runs whole forwards under the push; for yes and no over many settings `steering.sweep` is far quicker.
"""

from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import Instrument
from onedial.asking.measuring import measurements
from onedial.asking.questions import Question
from onedial.asking.respondents import answers_in_order
from onedial.core.errors import InputError
from onedial.models.model import OpenModel
from onedial.models.respondent import LocalRespondent
from steering.interventions import Intervention, SteeringVector, as_intervention


class SteeredRespondent(LocalRespondent):
    """Fulfils `Respondent` with a model that is steered while it answers, and left as it was found.

    Args:
        intervention: a vector by itself is added at the answer, in residual norms.
        magnitude: in the intervention's unit, positive towards yes; at 0 the model is as it was.
        batch_size, seed: as in `LocalRespondent`.

    Raises:
        InputError: the intervention is of another model.
    """

    def __init__(
        self,
        model: OpenModel,
        intervention: Intervention | SteeringVector,
        magnitude: float,
        batch_size: int | None = None,
        seed: int = 0,
    ) -> None:
        self.intervention = as_intervention(intervention)
        self.intervention.check_model(model)
        self.magnitude = float(magnitude)
        super().__init__(
            model,
            batch_size,
            push=self.intervention * self.magnitude,
            setting=f"{self.intervention.intervention_id} at {self.magnitude:+.6g}",
            seed=seed,
        )


def ask_along(
    model: OpenModel,
    intervention: Intervention | SteeringVector,
    magnitudes: Sequence[float],
    questions: Sequence[Question],
    instrument: Instrument,
) -> pd.DataFrame:
    """Put one instrument to the subject at several settings of its dial.

        table = ask_along(model, vector, [-0.1, 0.0, 0.1], questions, REASONED)
        table.groupby("magnitude")["said_yes"].agg(["mean", "count"])   # the yes rate, and of how many answers

    Args:
        instrument: its template has the one slot `question`.

    Returns:
        Measurements (`measurements`) by magnitude and question, beside them `intervention_id` and `magnitude`.

    Raises:
        InputError: no questions or no magnitudes, or as `LocalRespondent.answer`.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions[4:], layer=21)
    >>> ask_along(model, vector, [0.0, 0.5], questions[:4], CAN_YOU_ANSWER).shape[0]
    8
    """
    if not questions or not magnitudes:
        raise InputError(f"{len(questions)} questions at {len(magnitudes)} magnitudes: give at least one of each")
    prompts = [instrument.prompt(question.rendered) for question in questions]
    tables = []
    for magnitude in magnitudes:
        subject = SteeredRespondent(model, intervention, magnitude)
        rows = measurements(
            model.identity.name,
            subject.identity,
            instrument.name,
            instrument.template.name,
            [question.id for question in questions],
            answers_in_order(subject, prompts, instrument),
        )
        tables.append(rows.assign(intervention_id=subject.intervention.intervention_id, magnitude=subject.magnitude))
    return pd.concat(tables, ignore_index=True)
