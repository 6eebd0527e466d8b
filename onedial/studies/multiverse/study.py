"""What the stages of a multiverse share, and what it would cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from onedial.asking.prompts import PromptTemplate
from onedial.core.run.parts import Parts
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.panels.inputs import ExperimentInputs
from onedial.studies.inputs import prompts_by_split
from onedial.studies.options.dials import MultiverseOptions
from onedial.verdict.comparing.multiverse import universes_of
from steering.critical import ROWS_PER_CROSSING
from steering.planning.forecast import Load, Size, forecast_of
from steering.planning.magnitudes import RANGE_QUESTIONS, doubling

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
    universes = universes_of(candidates, options.contrasts, names, options.resamples, middle)
    by_wording = [[(each.layer, each.contrast) for each in universes if each.wording == name] for name in names]

    def stages(lengths: Mapping[str, list[int]], size: Size, dtype: torch.dtype) -> dict[str, list[Load]]:
        return loads(lengths, candidates, by_wording)

    asked = prompts_by_split(inputs, templates[0])
    told = forecast_of(options.model, asked, stages, options.revision, options.dtype)
    return f"{options.model}, {len(inputs.questions)} questions, {len(universes)} universes, {told}"


def loads(
    lengths: Mapping[str, list[int]], candidates: Sequence[int], universes: Sequence[Sequence[tuple[int, str]]]
) -> dict[str, list[Load]]:
    """What each stage asks of the model; all wordings are taken to be as long as the first.

    Args:
        candidates: layers that are scanned for the run's own; one where it was given.
        universes: of each wording, layer and contrast of each of its universes.

    >>> list(loads(dict.fromkeys(("extraction", "fitting", "test"), [40] * 9), [1, 2], [[(2, "response")]]))
    ['reading', 'scanning', 'ranges 1', 'confirming 1', 'turns 1']
    """
    extraction, fitting, beyond = lengths["extraction"], lengths["fitting"], len(doubling())
    # The answer contrast reads each prompt as it is, and with either answer.
    n_readings = sum(3 if contrast == "answer" else 1 for own in universes for contrast in {each[1] for each in own})
    found = {"reading": [Load(extraction * (n_readings + (len(candidates) > 1)))]}
    if len(candidates) > 1:
        found["scanning"] = [Load(fitting, [(layer, beyond) for layer in candidates])]
    for number, own in enumerate(universes, 1):
        found[f"ranges {number}"] = [Load(fitting[:RANGE_QUESTIONS], [(layer, beyond) for layer, _ in own])]
        found[f"confirming {number}"] = [Load(fitting, [(layer, beyond // 2) for layer, _ in own])]
        turning = [(layer, ROWS_PER_CROSSING[True]) for layer, _ in own]
        found[f"turns {number}"] = [Load([*fitting, *lengths["test"]], turning, "crossings")]
    return found
