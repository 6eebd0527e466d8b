"""What is turned, and how far: the vector of a finished sweep, or one from a file."""

from dataclasses import dataclass

from onedial.asking.prompts import PromptTemplate, load_prompt
from onedial.asking.questions import Question, questions_from_frame, sample_questions
from onedial.core.errors import InputError
from onedial.models.model import OpenModel, load_model
from onedial.panels.questions.question_files import load_questions
from onedial.studies.options.profile import ProfileOptions
from onedial.verdict.sweep_run import SweepRun
from steering.interventions import Intervention, SteeringVector
from steering.planning.magnitudes import yes_rates


@dataclass(frozen=True)
class Dial:
    """What is turned, and how far.

    Attributes:
        magnitudes: ascending, without 0. names: of each setting, for the figure.
        questions: whose ability is asked for. template: of "can you answer".
    """

    model: OpenModel
    intervention: Intervention
    magnitudes: list[float]
    names: dict[float, str]
    questions: list[Question]
    template: PromptTemplate


def dial_of_run(options: ProfileOptions) -> Dial:
    """Vector, prompt, questions (of the test split) and settings of a finished sweep."""
    assert options.run is not None
    swept = SweepRun.open(options.run)
    intervention = intervention_of(swept)
    magnitudes, names = settings_of(swept, intervention.intervention_id, options)
    frame = swept.questions()
    test = questions_from_frame(frame[frame["split"] == "test"].reset_index(drop=True))
    questions = sample_questions(test, min(options.n_questions, len(test)), options.seed)
    config = swept.config
    model = load_model(
        options.model or config["model"], revision=config.get("revision"), dtype=config.get("dtype") or "auto"
    )
    intervention.check_model(model)
    return Dial(model, intervention, magnitudes, names, questions, load_prompt(config["prompt"]))


def intervention_of(swept: SweepRun) -> Intervention:
    """What a finished sweep turned, with its vectors.

    Raises:
        InputError: a vector's file is missing or broken.
    """
    entry = swept.interventions().set_index("intervention_id", drop=False).loc[swept.under_test()]
    vectors = {name: SteeringVector.load(swept.path / swept.vector_file(name)) for name in entry["vectors"]}
    return Intervention.from_dict(entry.to_dict(), vectors)


def settings_of(swept: SweepRun, intervention_id: str, options: ProfileOptions) -> tuple[list[float], dict[float, str]]:
    """Magnitudes as given, or those swept at which the fitting questions' yes rate is nearest to those wanted."""
    table, splits = swept.sweep(), swept.splits()
    own = table[(table["intervention_id"] == intervention_id) & (table["question_id"].map(splits) == "fitting")]
    if own.empty:
        raise InputError(f"{swept.path} holds no sweep of its fitting questions; finish it with --resume")
    rates = yes_rates(own)["yes_rate"].dropna()
    if options.magnitudes:
        magnitudes = list(options.magnitudes)
    else:
        turned = rates.drop(0.0, errors="ignore")
        magnitudes = [float(turned.index[int((turned - rate).abs().argmin())]) for rate in options.yes_rates]
    chosen = sorted({magnitude for magnitude in magnitudes if magnitude != 0})
    if not chosen:
        raise InputError("no setting other than 0 is left; give others with --yes-rates or --magnitudes")
    # The yes rate of a magnitude that was not swept is not known, and its own name says enough.
    return chosen, {each: f"yes {rates[each]:.2f}" if each in rates.index else f"{each:+.3g}" for each in chosen}


def dial_of_vector(options: ProfileOptions) -> Dial:
    """A vector's file, a model and magnitudes; the embedded questions."""
    assert options.vector is not None
    assert options.model is not None
    vector = SteeringVector.load(options.vector)
    questions = load_questions(options.questions)
    model = load_model(options.model)
    intervention = Intervention.of(vector)
    intervention.check_model(model)
    magnitudes = sorted(set(options.magnitudes) - {0.0})
    if not magnitudes:
        raise InputError("--magnitudes holds nothing but 0; give at least one other")
    drawn = sample_questions(questions, min(options.n_questions, len(questions)), options.seed)
    names = {each: f"{each:+.3g}" for each in magnitudes}
    return Dial(model, intervention, magnitudes, names, drawn, load_prompt(options.prompt))
