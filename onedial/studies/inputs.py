"""Read what the options of subject, questions and panel stand for."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onedial.core.errors import InputError
from onedial.core.pulse import at_work
from onedial.studies.options.shared import NO_PANEL, QuestionOptions, SubjectOptions, TargetOptions, VerdictOptions

if TYPE_CHECKING:
    import torch

    from onedial.asking.prompts import Prompt, PromptTemplate
    from onedial.models.identity import ModelIdentity
    from onedial.panels.inputs import ExperimentInputs
    from steering.planning.forecast import Load, Size


def read_inputs(
    options: QuestionOptions, *, hold_out_topics: bool = False, needs_panel: bool = True
) -> "ExperimentInputs":
    """Questions and panel, by the options.

    Where the panel's respondents are targets, the subject's own answers are left out where its name tells them. Where
    the subject is asked otherwise than the panel was, this is noticed.

    Args:
        hold_out_topics: see `onedial.panels.inputs.load_inputs`.
        needs_panel: whether there must be one; else there is none where the options say so, and, as is noticed, where
            the built-in one answers none of the questions that are given.

    Raises:
        InputError: as `onedial.panels.inputs.load_inputs`.
    """
    from onedial.asking.prompts import load_prompt
    from onedial.core.notices import notice
    from onedial.panels.inputs import load_inputs
    from onedial.panels.joining import NothingSharedError
    from onedial.panels.panel_files import PanelSource
    from onedial.panels.splits import TooFewToSplitError

    with at_work(f"reading {options.questions or 'the questions'} and the panel {options.panel}"):
        of_targets = options if isinstance(options, TargetOptions) else None
        given: dict[str, Any] = {
            "questions": None if options.questions is None else options.read_questions(options.questions),
            "targets": of_targets and of_targets.target and [name.strip() for name in of_targets.target.split(",")],
            "n_questions": options.n_questions,
            "seed": options.seed,
            "hold_out_topics": hold_out_topics,
        }
        if options.panel == NO_PANEL and not needs_panel:
            return load_inputs(None, **given)
        try:
            inputs = load_inputs(PanelSource(options.panel, options.respondents, options.declared), **given)
        except NothingSharedError:
            if needs_panel or options.questions is None or options.panel != "embedded":
                raise
            notice(
                f"the built-in panel answers none of {options.questions}: as --panel {NO_PANEL}, so without a verdict"
            )
            return load_inputs(None, **given | {"targets": None})
        except TooFewToSplitError as error:
            raise InputError(f"{error}{_or_alone(options)}") from None
        if of_targets is not None and not of_targets.keep_own:
            inputs = inputs.without_own(options.model)
        if differences := inputs.asked_otherwise(load_prompt(str(options.prompt))):
            notice(f"asked otherwise: {'; '.join(differences)}")
        return inputs


def require_prospects(inputs: "ExperimentInputs", options: VerdictOptions) -> None:
    """Refuse what cannot be judged, whatever the subject says; notice it where somebody insists.

    Raises:
        InputError: as `prospects_of`; or too few targets could be judged, of too few base models.
    """
    if not inputs.has_panel:
        return
    from onedial.core.notices import notice
    from onedial.verdict.prospects import prospects_of

    try:
        prospects = prospects_of(inputs)
    except InputError as error:
        raise InputError(f"{error}{_or_alone(options)}") from None
    if not prospects.suffices:
        if not options.without_verdict:
            raise InputError(
                f"{prospects}{_or_alone(options)}; --without-verdict steers all the same, and judges nothing"
            )
        notice(f"warning: {prospects}")


def _or_alone(options: QuestionOptions) -> str:
    """How own questions are asked that the built-in panel hardly knows; empty where there are no such."""
    from onedial.studies.options.sweep import SweepInputs

    if options.panel != "embedded" or options.questions is None or not isinstance(options, SweepInputs):
        return ""
    return f"; --panel {NO_PANEL} asks all of {options.questions}, not only those that the panel answers"


def without_subject(
    inputs: "ExperimentInputs", options: VerdictOptions, identity: "ModelIdentity"
) -> "ExperimentInputs":
    """Without the targets that have the subject's name or weights, unless `--keep-own`.

    Raises:
        InputError: what is left cannot be judged (`require_prospects`).
    """
    others = inputs if options.keep_own else inputs.without_own(identity.name, identity.fingerprints)
    if others is not inputs:
        require_prospects(others, options)
    return others


def layers_by_config(options: SubjectOptions, layer: str) -> list[int]:
    """Find the candidate layers that `--layer` names, by the subject's config alone.

    Args:
        layer: as `--layer` has it.

    Raises:
        InputError: the subject has not all of them; or as `steering.planning.layers.candidate_layers`.
    """
    from onedial.models.checkpoints.weights import load_config, resolve_weights
    from steering.planning.layers import candidate_layers

    candidate_layers(layer, 10**6)  # what is written wrongly is wrong in any model
    config, _ = load_config(resolve_weights(options.model, options.revision))
    return candidate_layers(layer, config.get_text_config().num_hidden_layers)


def forecast(
    options: SubjectOptions,
    inputs: "ExperimentInputs",
    template: "PromptTemplate",
    loads: "Callable[[Mapping[str, list[int]], Size, torch.dtype], Mapping[str, Sequence[Load]]]",
    beside: "Mapping[str, Sequence[Prompt]] | None" = None,
) -> str:
    """Foretell what a run would cost, stage by stage, without reading weights.

    Args:
        loads: as in `steering.planning.forecast.forecast_of`. beside: prompts besides those of each split.

    Raises:
        InputError: as `forecast_of`.
    """
    from onedial.models.threads import choose_threads, quiet_libraries
    from steering.planning.forecast import forecast_of

    quiet_libraries()
    choose_threads()
    asked: dict[str, Sequence[Prompt]] = {
        split: [template.fill(question.rendered) for question in inputs.in_splits(split)]
        for split in inputs.splits.values()
    }
    time = forecast_of(options.model, asked | dict(beside or {}), loads, options.revision, options.dtype)
    return f"{options.model}, {len(inputs.questions)} questions, {time}"
