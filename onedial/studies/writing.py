"""What the subject of a finished sweep writes at settings of its dial, for whoever looks at one question."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onedial.core import InputError
from onedial.verdict import SweepRun
from onedial.view import Wanted

if TYPE_CHECKING:
    from onedial.models import OpenModel
    from steering import Intervention

LONGEST = 48
"""Tokens of a text."""


class WriteOnDemand:
    """Fulfils `onedial.view.Write`: greedily, at most `LONGEST` tokens a text. The last subject stays in memory.

    As the run asked: its request, steered as swept. The question alone: as the whole user turn, steered at every
    position. Nothing is downloaded.
    """

    def __init__(self) -> None:
        self._loaded: tuple[tuple[object, ...], OpenModel] | None = None

    def __call__(self, wanted: Wanted, magnitudes: Sequence[float], tell: Callable[[str], None]) -> Iterator[str]:
        """A text for each magnitude.

        Raises:
            InputError: the model is not on this machine, or another one than was swept; the question is none of the
                run's.
        """
        swept = SweepRun.open(wanted.run)
        texts = swept.questions().assign(id=lambda table: table["id"].astype(str)).set_index("id")["question"]
        if wanted.question not in texts:
            raise InputError(f"{wanted.run} asks no question {wanted.question!r}")
        tell(f"loading {swept.config['model']}")
        model = self._subject(swept)
        from onedial.asking import Prompt, load_prompt
        from steering import generate_steered

        intervention, text = intervention_of(swept), str(texts[wanted.question])
        intervention.check_model(model)
        prompt = Prompt(text) if wanted.alone else load_prompt(swept.config["prompt"]).fill(text)
        if wanted.alone:
            intervention = replace(intervention, positions="all")
        for magnitude in magnitudes:

            def goes_on(text: str, at: str = f"{magnitude:+.3g}") -> bool:
                tell(f"writing at {at}: {text}")
                return False

            goes_on("")
            (written,) = generate_steered(
                model, [prompt], intervention, magnitude, max_new_tokens=LONGEST, stop=goes_on
            )
            yield written.text

    def _subject(self, swept: SweepRun) -> "OpenModel":
        config = swept.config
        which = tuple(config.get(name) for name in ("model", "revision", "dtype"))
        if self._loaded is None or self._loaded[0] != which:
            self._loaded = None  # two would not fit where one just does
            os.environ["HF_HUB_OFFLINE"] = "1"
            from onedial.models import load_model, quiet_libraries

            quiet_libraries()
            model = load_model(config["model"], revision=config.get("revision"), dtype=config.get("dtype") or "auto")
            self._loaded = (which, model)
        return self._loaded[1]


def intervention_of(swept: SweepRun) -> "Intervention":
    """What a finished sweep turned, with its vectors.

    Raises:
        InputError: a vector's file is missing or broken.
    """
    from steering import Intervention, SteeringVector

    entry = swept.interventions().set_index("intervention_id", drop=False).loc[swept.under_test()]
    vectors = {name: SteeringVector.load(swept.path / swept.vector_file(name)) for name in entry["vectors"]}
    return Intervention.from_dict(entry.to_dict(), vectors)
