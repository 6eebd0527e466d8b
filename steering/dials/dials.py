"""Turn anything with one setting that takes a subject from no to yes, behind one interface: a dial.

    dial.ask(Put(model, questions, template), settings)   a setting gives answers: margin and mass of each question

    InterventionDial   an intervention; the setting is its magnitude, in its unit
    ThresholdShift     the unsteered margin plus the setting: a bias on the logits of the yes tokens, in nats
    InstructedThreshold   "... only if you are at least t% sure", the setting is t; 0 says nothing
    Personas           openings of the prompt; the setting is an opening's number, 0 says nothing

At setting 0 the subject is as it was. `planning.magnitudes.settings_at` finds where a dial has given yes rates, so that
dials compare.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from onedial.asking.prompts import OPENINGS, PromptTemplate, with_opening
from onedial.asking.questions import Question
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.forward.batches import Progress
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention
from steering.planning.magnitudes import doubling
from steering.reading import answers_along

DIAL_COLUMNS = ["question_id", "setting", "margin", "mass"]
RATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""At which dials are compared."""
SURENESS = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 100.0)
"""Not 0, which is the setting at which nothing is said: it would be asked twice."""
INSTRUCTION = "Say Yes only if you are at least {level:g}% sure that your answer is right; otherwise say No."
PERSONAS = ("cautious", "eager", "high stakes", "child", "exam", "self-doubting", "polymath", "bet", "memory loss")


class Put(NamedTuple):
    """Questions under a prompt, put to a model."""

    model: OpenModel
    questions: Sequence[Question]
    template: PromptTemplate
    progress: Progress | None = None

    def unsteered(self) -> pd.DataFrame:
        """The answers of the model as it stands: question_id, margin, mass."""
        read = read_activations(
            self.model, PromptSet.build(self.model, self.questions, self.template), [], self.progress
        )
        margins = {"margin": read.margin.double(), "mass": read.mass.double()}
        return pd.DataFrame({"question_id": list(read.question_ids), **margins})


class Dial:
    """See the module's text.

    Attributes:
        name: one among those that are compared. kind: what sort of dial.
        continuous: whether settings between two others stand between them, so that one can be sought.
    """

    name: str
    kind: str
    continuous: bool

    def first_settings(self) -> list[float]:
        """Settings over the whole range of the dial, to find the yes rates from."""
        raise NotImplementedError

    def ask(self, put: Put, settings: Sequence[float]) -> pd.DataFrame:
        """Ask at some settings, anew at each: a row per question and setting, `DIAL_COLUMNS`; positive margin = yes."""
        tables = [self.answers_at(put, setting).assign(setting=float(setting)) for setting in settings]
        return pd.concat(tables, ignore_index=True)[DIAL_COLUMNS]

    def answers_at(self, put: Put, setting: float) -> pd.DataFrame:
        """Answer at one setting: question_id, margin, mass."""
        raise NotImplementedError


@dataclass(frozen=True)
class InterventionDial(Dial):
    """An intervention on the residual stream; the setting is its magnitude."""

    intervention: Intervention
    name: str = ""
    kind: str = "intervention"
    continuous: bool = True

    __repr__ = one_line

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.intervention.intervention_id)

    def first_settings(self) -> list[float]:
        """A clamp is a switch: at 0 it is off, which is no point between its neighbours."""
        doubled = sorted(doubling(self.intervention.units_per_norm))
        return [setting for setting in doubled if setting] if self.intervention.operator == "clamp" else doubled

    def ask(self, put: Put, settings: Sequence[float]) -> pd.DataFrame:
        prompts = PromptSet.build(put.model, put.questions, put.template)
        table = answers_along(put.model, [self.intervention], prompts, settings, progress=put.progress)
        return table.rename(columns={"magnitude": "setting"})[DIAL_COLUMNS]


@dataclass(frozen=True)
class ThresholdShift(Dial):
    """The unsteered margin plus the setting, in nats; masses are the unsteered ones, since nothing else is changed."""

    name: str = "threshold shift"
    kind: str = "cut"
    continuous: bool = True

    def first_settings(self) -> list[float]:
        return sorted(60 * magnitude / 4 for magnitude in doubling())

    def ask(self, put: Put, settings: Sequence[float]) -> pd.DataFrame:
        plain = put.unsteered()  # once for all settings
        shifted = [plain.assign(setting=float(setting), margin=plain["margin"] + setting) for setting in settings]
        return pd.concat(shifted, ignore_index=True)[DIAL_COLUMNS]


@dataclass(frozen=True)
class PromptDial(Dial):
    """A paragraph before the prompt, one for each setting; what is asked besides is asked under it as well.

    Attributes:
        openings: setting -> paragraph; without 0, which says nothing.
    """

    name: str
    kind: str
    openings: Mapping[float, str]
    continuous: bool = False

    __repr__ = one_line

    def first_settings(self) -> list[float]:
        return [0.0, *self.openings]

    def answers_at(self, put: Put, setting: float) -> pd.DataFrame:
        """As `Dial.answers_at`.

        Raises:
            InputError: a setting that it has not.
        """
        if setting and setting not in self.openings:
            known = ", ".join(f"{each:g}" for each in self.first_settings())
            raise InputError(f"{self.name} has no setting {setting:g}; choose among {known}")
        name = f"{put.template.name}, {self.name} {setting:g}"
        return put._replace(template=with_opening(put.template, self.openings.get(setting, ""), name)).unsteered()


def instructed_threshold(levels: Sequence[float] = SURENESS) -> PromptDial:
    """ "Say Yes only if you are at least t% sure": the setting is t, 0 says nothing; higher should mean fewer yes.

    >>> instructed_threshold([50.0, 90.0]).name
    'instructed threshold'
    """
    openings = {float(level): INSTRUCTION.format(level=level) for level in levels}
    return PromptDial("instructed threshold", "threshold", openings)


def personas(names: Sequence[str] = PERSONAS) -> PromptDial:
    """Framings as openings of the prompt, numbered from 1; 0 says nothing.

    Raises:
        InputError: a framing that there is not.

    >>> sorted(personas(["cautious", "exam"]).openings)
    [1.0, 2.0]
    """
    if unknown := [name for name in names if not OPENINGS.get(name)]:
        known = ", ".join(name for name, opening in OPENINGS.items() if opening)
        raise InputError(f"there is no framing {unknown[0]!r}; choose among {known}")
    return PromptDial("personas", "persona", {float(place + 1): OPENINGS[name] for place, name in enumerate(names)})


def ask_together(
    model: OpenModel,
    dials: Sequence[InterventionDial],
    prompts: PromptSet,
    settings: Mapping[str, Sequence[float]],
    *,
    sink: Callable[[pd.DataFrame], object],
    done: frozenset[str] | set[str] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Many interventions in one pass over the questions, each batch run unsteered once.

    Args:
        settings: by the dial's name.
        sink: is given each finished batch, columns `dial` and `DIAL_COLUMNS`. done: question ids that need not be asked
            again.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import Intervention, extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> dial = InterventionDial(Intervention.of(extract_vector(model, questions, layer=21)))
    >>> prompts, tables = PromptSet.build(model, questions, METACOGNITIVE), []
    >>> ask_together(model, [dial], prompts, {dial.name: [0.0, 0.1]}, sink=tables.append)
    >>> sum(map(len, tables))
    40
    """
    names = {dial.intervention.intervention_id: dial.name for dial in dials}
    grids = {dial.intervention.intervention_id: list(settings[dial.name]) for dial in dials}

    def keep(frame: pd.DataFrame) -> None:
        renamed = frame.rename(columns={"magnitude": "setting"})
        sink(renamed.assign(dial=renamed["intervention_id"].map(names))[["dial", *DIAL_COLUMNS]])

    pushes = [dial.intervention for dial in dials]
    answers_along(model, pushes, prompts, grids, sink=keep, done=done, progress=progress)
