"""What the stages of a multiverse share, and what it would cost."""

from dataclasses import dataclass

from onedial.asking import PromptTemplate
from onedial.core import Parts, Run
from onedial.models import OpenModel, PromptSet
from onedial.panels import ExperimentInputs
from onedial.studies import questions_by_split
from onedial.studies.options import MultiverseOptions
from onedial.verdict import universes_of
from steering import forecast_multiverse, measure_and_forecast

TURN_COLUMNS = ["question_id", "intervention_id", "magnitude", "yes_at_low", "margin", "mass"]
TURN_KEY = ["intervention_id", "question_id", "magnitude"]


@dataclass(frozen=True)
class MultiverseStudy:
    """What every stage needs.

    Attributes:
        templates: the wordings, the run's own first.
        options: those of `experiments/multiverse.py`, whose help says what each is.
    """

    run: Run
    model: OpenModel
    inputs: ExperimentInputs
    templates: list[PromptTemplate]
    options: MultiverseOptions

    def prompts(self, wording: int, *splits: str) -> PromptSet:
        """The questions of some splits in one wording."""
        return PromptSet.build(self.model, self.inputs.in_splits(*splits), self.templates[wording])

    def turns(self, wording: int) -> Parts:
        """Where the answers turn in the universes of one wording, as it grows."""
        return self.run.parts(f"turns/wording-{wording}", TURN_COLUMNS, TURN_KEY)


def predict(
    options: MultiverseOptions,
    inputs: ExperimentInputs,
    templates: list[PromptTemplate],
    candidates: list[int],
) -> str:
    """What the run would cost; the middle candidate stands for the run's own layer."""
    names = [template.name for template in templates]
    middle = candidates[len(candidates) // 2]
    universes = universes_of(candidates, options.contrasts, names, options.resamples, middle, cross=options.cross)
    forecast = measure_and_forecast(
        options.model,
        questions_by_split(inputs),
        templates[0],
        options.revision,
        options.dtype,
        forecast=forecast_multiverse,
        candidates=candidates,
        universes=[[(each.layer, each.contrast) for each in universes if each.wording == name] for name in names],
    )
    return f"{options.model}, {len(inputs.questions)} questions, {len(universes)} universes, {forecast}"
