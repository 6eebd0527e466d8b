"""Sweep a dial: every question's yes/no margin at every magnitude of every intervention."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import margins_by
from onedial.asking.yes_no import is_read
from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import shown
from onedial.models.forward.batches import Progress
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import Questions
from onedial.models.writing import write_after
from onedial.stats.level import Z_95, p_value
from onedial.stats.multiple_tests import p_text
from onedial.stats.shares import wilson_interval
from steering.interventions import Intervention, SteeringVector, as_interventions
from steering.looks import Look
from steering.planning.layers import even_grid
from steering.pushes import Magnitudes, Push, say_if_far
from steering.reading import Grids, answers_along, check_sweep, prompts_for
from steering.vectors import random_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCORED_COLUMNS = ["question_id", "intervention_id", "magnitude", "score", "text"]
TEXT_MAGNITUDES = (-0.4, -0.2, 0.0, 0.2, 0.4)
"""In residual norms."""

Pushed = Intervention | SteeringVector | Sequence[Intervention | SteeringVector]


@dataclass(frozen=True)
class SweepResult:
    """The answers of a sweep; a notebook shows its dose-response, beside a band of its random directions.

    Attributes:
        table: one row per question, intervention and magnitude; columns `question_id, intervention_id, magnitude,
            margin, mass`, ordered by intervention, question and magnitude; of scored texts `score, text` in the place
            of the last two.
        controls: intervention_ids of the random directions that stand beside.
    """

    table: pd.DataFrame
    controls: tuple[str, ...] = ()

    __repr__ = one_line

    def __str__(self) -> str:
        return str(self.look()) if len(self.table) else repr(self)

    def to_frame(self) -> pd.DataFrame:
        """As `rates`."""
        return self.rates()

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the dose-response, with 95% intervals over the questions; see `steering.looks.Look.plot`."""
        return self.look().plot(ax)

    def _repr_html_(self) -> str:
        return self.look()._repr_html_()

    def _ipython_display_(self) -> None:
        self.look()._ipython_display_()

    def look(self) -> Look:
        """The rates as a picture and a table, and how many random directions reach as far.

        A direction reaches as far as its rate goes, from the least to the most, over the magnitudes. With k of n random
        ones that reach as far as the vector, p = (1 + k) / (1 + n).
        """
        rates = self.rates().reset_index()
        name = rates.columns[2]
        if name == "yes_rate":
            rates[f"{name}_low"], rates[f"{name}_high"] = wilson_interval(
                rates[name].fillna(0) * rates["n_read"], rates["n_read"]
            )
        else:
            rates[f"{name}_low"], rates[f"{name}_high"] = (rates[name] + sign * Z_95 * rates["se"] for sign in (-1, 1))
        reach = rates.groupby("intervention_id", sort=False)[name].agg(lambda rate: rate.max() - rate.min())
        chance = reach[list(self.controls)].dropna().to_numpy()
        words, says = name.replace("_", " "), []
        for which in reach.index.difference(list(self.controls), sort=False):
            p = f" ({p_text(p_value(reach[which], chance))})" if len(chance) else ""
            moved = np.isfinite(reach[which])
            says.append(
                f"{which} moves the {words} by {reach[which]:.2f}{p}" if moved else f"{which}: nothing was read"
            )
        if len(chance):
            says.append(
                f"{len(chance)} random directions by {np.median(chance):.2f} in the middle, {chance.max():.2f} at most"
            )
        says.append(f"{int(rates['n_unread'].sum()):,} of {len(self.table):,} answers unread")
        limits = (-0.03, 1.03) if name == "yes_rate" else (None, None)
        bold = ~rates["intervention_id"].isin(self.controls)
        frame = pd.concat([rates[bold], rates[~bold]], ignore_index=True)
        return Look(
            frame, "; ".join(says), "lines", "magnitude", name, "intervention_id", xlabel="magnitude",
            ylabel=f"{words} (band: 95%)", limits=limits, faint=self.controls,
        )  # fmt: skip

    def margins(self, intervention_id: str) -> pd.DataFrame:
        """Questions x magnitudes; nan where the answer counts as unread (mass below 0.1)."""
        return margins_by(self.table[self.table["intervention_id"] == intervention_id])

    def rates(self) -> pd.DataFrame:
        """The dose-response: by intervention and magnitude, `yes_rate` among the answers that could be read with its
        standard error `se` = sqrt(p (1 - p) / n_read), and how many were read (`n_read`) and were not (`n_unread`).

            result.rates()["yes_rate"].unstack("intervention_id").plot()

        Of scored texts: the mean `score`, and `se` = sd / sqrt(n_read).
        """
        scored = "score" in self.table
        name = "score" if scored else "yes_rate"
        read = self.table["score"].notna() if scored else is_read(self.table["mass"])
        values = self.table["score"] if scored else (self.table["margin"] > 0).astype(float).where(read)
        by = values.groupby([self.table["intervention_id"], self.table["magnitude"]], sort=False)
        rates = pd.DataFrame({name: by.mean(), "n_read": by.count(), "n_unread": by.size()}).sort_index()
        rates["n_unread"] -= rates["n_read"]
        spread = by.var().reindex(rates.index) if scored else rates[name] * (1 - rates[name])
        rates.insert(1, "se", np.sqrt(spread / rates["n_read"].where(rates["n_read"] > 0)))
        return rates


@says_how
def sweep(
    model: OpenModel,
    interventions: Pushed,
    questions: PromptSet | Questions,
    magnitudes: Magnitudes | Grids | None = None,
    *,
    prompt: PromptTemplate | str | None = None,
    answers: tuple[str, str] | None = None,
    score: Callable[[str], float] | None = None,
    controls: int = 0,
    max_new_tokens: int = 48,
    progress: Progress | bool = True,
) -> SweepResult:
    """Ask every question at every magnitude of every intervention.

        sweep(model, vector, ["Who sang Hurt first?", "What is 7 times 8?"]).rates()      # asked as the vector was read
        sweep(model, vector, ["Was the film good or bad?"], answers=("good", "bad"), controls=1)
        sweep(model, vector, ["Tell me of your day."], [-0.3, 0, 0.3], score=lambda text: float("sorry" in text))

    Args:
        interventions: one or several; a vector by itself is added at the answer, in residual norms.
        questions: a `PromptSet`; or texts, rows, a data frame, the name of a set or file (`onedial.load_questions`),
            or `Question`s.
        magnitudes: a number, a list, a range or an array for all, or one of these per `intervention_id`; in its unit,
            positive towards yes. By default 25 even ones over the stretch in which the first intervention turns the
            answers (`doubling` on the first 32 questions), and `TEXT_MAGNITUDES` where texts are scored.
        prompt: how questions are put: a template, the name of a framing, or a text with {question}; by default as they
            were when the vectors were read.
        answers: two words that are read in the places of yes and no.
        score: a number for what the steered model writes, likeliest token by token; nan where it can't be told.
        controls: so many directions drawn from the sphere stand beside the vector, at its layer and as long.
        max_new_tokens: of each text that is scored.
        progress: is told how many questions were finished; True shows it where that takes over two seconds.

    Returns:
        The table of this call's questions; with several processes, of all of them, in each process.

    Raises:
        InputError: an intervention of another model, a push, which has a magnitude already, none at all, or one in the
            questions' place; an endless magnitude or an empty list; questions without a prompt, where the vectors
            remember none; answers that begin with one token.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=24)
    >>> vector = extract_vector(model, questions[4:], layer=21)
    >>> sweep(model, vector, questions[:4], [0.0, 0.5]).rates().shape[0]
    2
    """
    if _are_pushed(questions):
        raise InputError("the vectors stand where the questions belong; write sweep(model, vectors, questions)")
    asked = as_interventions(interventions)
    drawn = [random_vector(asked[0].vectors[0], seed) for seed in range(1, controls + 1)]
    asked += [replace(asked[0], intervention_id=each.vector_id, vectors=(each,), role="random") for each in drawn]
    prompts = prompts_for(model, asked, questions, prompt, answers)
    if score is not None:
        settings = TEXT_MAGNITUDES if magnitudes is None else magnitudes
        return _scored(model, asked, prompts, settings, score, max_new_tokens, progress)
    # Who renders the questions knows what is looked for.
    looking = magnitudes is not None and not isinstance(questions, PromptSet)
    if magnitudes is None:
        magnitudes = even_grid(model, prompts, asked, progress)
    elif looking:
        say_if_far(asked, magnitudes)
    with shown(progress, len(prompts), "questions swept") as advance:
        table = answers_along(model, asked, prompts, magnitudes, progress=advance)
    result = SweepResult(table, tuple(each.intervention_id for each in asked if each.role == "random"))
    if looking:
        _say_if_still(result, asked[0].intervention_id)
    return result


def _scored(
    model: OpenModel,
    interventions: Sequence[Intervention],
    prompts: PromptSet,
    magnitudes: Magnitudes | Grids,
    score: Callable[[str], float],
    max_new_tokens: int,
    progress: Progress | bool,
) -> SweepResult:
    """Let the model write at each setting, and score each text."""
    rows, grids = [], check_sweep(model, interventions, magnitudes)
    with shown(progress, len(prompts) * sum(map(len, grids.values())), "texts written") as advance:
        for name, grid in grids.items():
            acting = next(each for each in interventions if each.intervention_id == name)
            for magnitude in grid:
                push = acting * magnitude
                texts = write_after(model, prompts.prompts, max_new_tokens, push=push, progress=advance)
                rows += [
                    (question, name, magnitude, float(score(each.text)), each.text)
                    for question, each in zip(prompts.question_ids, texts, strict=True)
                ]
    drawn = tuple(each.intervention_id for each in interventions if each.role == "random")
    return SweepResult(pd.DataFrame(rows, columns=SCORED_COLUMNS), drawn)


@says_how
def dose_response(
    model: OpenModel,
    vector: Intervention | SteeringVector,
    questions: PromptSet | Questions,
    magnitudes: Magnitudes | Grids | None = None,
    *,
    controls: int = 10,
    **asking: Any,
) -> SweepResult:
    """Show how the answers go with the magnitude, beside random directions: `sweep` with a band.

    Args:
        controls: random directions. With n of them the smallest p is 1 / (1 + n); each costs as much as the vector.
        asking: whatever else `sweep` takes. The rest: as there.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=24)
    >>> vector = extract_vector(model, questions[4:], layer=21)
    >>> dose_response(model, vector, questions[:4], [0.0, 0.5], controls=3).to_frame().shape[0]
    8
    """
    return sweep(model, vector, questions, magnitudes, controls=controls, **asking)


def _say_if_still(result: SweepResult, intervention_id: str) -> None:
    """Notice that most answers are unread, or that none is another one at another magnitude."""
    margins = result.margins(intervention_id)
    if (unread := float(margins.isna().to_numpy().mean())) > 0.5:
        notice(
            f"{unread:.0%} of the answers along {intervention_id} are unread, since the model begins with neither; "
            "let the question ask for one of them, or give score=, which takes whatever is written"
        )
        return
    yes = (margins > 0).where(margins.notna()).astype(float)
    if margins.shape[1] > 1 and not (yes.max(axis=1) > yes.min(axis=1)).any():
        notice(
            f"{intervention_id} turns no answer between {margins.columns[0]:g} and {margins.columns[-1]:g}; try larger "
            "magnitudes, another layer, contrast or prompt"
        )


def _are_pushed(given: object) -> bool:
    first = given[0] if isinstance(given, Sequence) and not isinstance(given, str) and given else given
    return isinstance(first, SteeringVector | Intervention | Push)
