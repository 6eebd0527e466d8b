"""What can be said before the subject is loaded: what it reads first, and what a run would cost."""

from onedial.asking import PromptTemplate, reversed_wording
from onedial.models import load_config, render, resolve_weights
from onedial.panels import ExperimentInputs
from onedial.studies import questions_by_split
from onedial.studies.options import SweepOptions
from steering import SURENESS, measure_and_forecast


def first_prompt(model: str, revision: str | None, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the subject reads first; its tokenizer is enough for that."""
    _, tokenizer = load_config(resolve_weights(model, revision, convert=False))
    return render(tokenizer, template.fill(inputs.questions[0].text))


def predict(options: SweepOptions, inputs: ExperimentInputs, template: PromptTemplate) -> str:
    """What the run would cost."""
    settings = options.settings()
    forecast = measure_and_forecast(
        options.model,
        questions_by_split(inputs),
        template,
        options.revision,
        options.dtype,
        layer=options.layer,
        positions=options.positions,
        n_magnitudes=None if settings is None else len(settings),
        n_controls=options.controls,
        n_facts=options.facts,
        n_reversed=options.reversed if reversed_wording(template) else 0,
        tests=options.tests,
        n_instructed=len(SURENESS) if options.instructed else 0,
        n_passages=options.passages if options.side_effects else 0,
        n_reasoned=options.reasoned_settings if options.answer == "reasoned" else 0,
        reasoned_tokens=options.reasoned_tokens,
    )
    return f"{options.model}, {len(inputs.questions)} questions, {forecast}"
