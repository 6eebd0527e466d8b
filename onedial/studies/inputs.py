"""What the options of subject, questions and panel stand for."""

from typing import TYPE_CHECKING, Protocol

from onedial.core import at_work
from onedial.studies.options import TargetOptions

if TYPE_CHECKING:
    from onedial.asking import Question
    from onedial.panels import ExperimentInputs


class LayeredOptions(Protocol):
    """A subject, and which of its layers."""

    @property
    def model(self) -> str:
        """Its name."""

    @property
    def revision(self) -> str | None:
        """Of its checkpoint."""

    @property
    def layer(self) -> str:
        """As `--layer` has it."""


def read_inputs(options: TargetOptions, *, hold_out_topics: bool = False, judged: bool = False) -> "ExperimentInputs":
    """Questions and panel, by the options.

    The subject's own answers are left out where its name tells them. Where the subject is asked otherwise than the
    panel was, this is noticed.

    Args:
        hold_out_topics: see `onedial.panels.load_inputs`.
        judged: a verdict is to come of it; where the panel is too small for one, this is noticed.

    Raises:
        InputError: as `onedial.panels.load_inputs`.
    """
    with at_work(f"reading {options.questions or 'the questions'} and the panel {options.panel}"):
        return _inputs_of(options, hold_out_topics, judged)


def _inputs_of(options: TargetOptions, hold_out_topics: bool, judged: bool) -> "ExperimentInputs":
    from onedial.asking import load_prompt
    from onedial.core import notice
    from onedial.panels import load_inputs
    from onedial.verdict import prospects_of

    inputs = load_inputs(
        options.panel,
        options.questions,
        options.respondents,
        options.target and [name.strip() for name in options.target.split(",")],
        options.n_questions,
        options.seed,
        hold_out_topics=hold_out_topics,
    )
    if not options.keep_own:
        inputs = inputs.without_own(options.model)
    if said := inputs.asked_otherwise(load_prompt(str(options.prompt))):
        notice(f"asked otherwise: {'; '.join(said)}")
    if judged:
        prospects = prospects_of(inputs)
        if not prospects.suffices:
            notice(f"warning: {prospects}")
    return inputs


def layers_by_config(options: LayeredOptions) -> list[int]:
    """The candidate layers that `--layer` names, by the subject's config alone.

    Raises:
        InputError: the subject has not all of them; or as `steering.candidate_layers`.
    """
    from onedial.models import load_config, resolve_weights
    from steering import candidate_layers

    candidate_layers(options.layer, 10**6)  # what is written wrongly is wrong in any model
    config, _ = load_config(resolve_weights(options.model, options.revision, convert=False))
    return candidate_layers(options.layer, config.get_text_config().num_hidden_layers)


def questions_by_split(inputs: "ExperimentInputs") -> "dict[str, list[Question]]":
    """Split -> its questions, in their order."""
    return {split: inputs.in_splits(split) for split in inputs.splits.values()}
