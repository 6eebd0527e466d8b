"""Count how often each sentence is said of panels that would fool a verdict, and of honest ones.

Every target follows a scale D that correlates by r with the order in which the subject's answers turn; how far it
follows it, .8 D + .6 noise (half of the noise its base model's), is alike in all cells. Six base models under three
framings, 400 questions, 41 magnitudes, yes rates from .2 to .8, unless the cell says otherwise. Synthetic: this studies
the procedure, and says nothing about any model. `red_team.yaml` says what is planted in each cell.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats
from scipy.signal import lfilter
from simulated_panels import dial_ease, simulate_sweep

from onedial.asking.questions import Question
from onedial.core.notices import noticed
from onedial.panels.questions.question_files import load_questions
from onedial.panels.splits import assign_splits
from onedial.verdict.case import sweep_grid
from onedial.verdict.prediction.prediction import predict
from onedial.verdict.prediction.sources import DIAL, LENGTH, MEAN, SHARED, TOPICS
from onedial.verdict.verdict import (
    ANSWERS,
    CANNOT_BE_JUDGED,
    FLAGS,
    NOT_ENOUGH,
    NOT_REPRODUCED,
    REPRODUCED,
    RULE,
    judge,
)
from simulations.frame import Cell, Found, Simulation, one_line_each

CELLS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
N_TOPICS, N_WORDINGS = 20, 5
SETS, N_DRAWS = 50, 499


@dataclass(frozen=True)
class Planted:
    """Say what is planted in a panel.

    Attributes:
        share: of dial and D that lies between topics, or wordings; None: a half of topics, nine tenths of wordings.
        texts: a set of questions whose texts and topics these have.
        related: by which the first base models follow the dial, n_related of them; closeness: what their respondents
            correlate by, as fine-tunes of one model, in the place of noise of their own.
        copied: half of the answers are the first base model's. steered: base models that are the subject.
        elsewhere: r in every second topic.
        apart: whether each other base model has a scale of its own. loading: of respondents on their scale.
    """

    r: float = 0.0
    n_questions: int = 400
    n_magnitudes: int = 41
    related: float | None = None
    n_related: int = 1
    closeness: float | None = None
    apart: bool = False
    loading: float = 0.8
    copied: bool = False
    steered: int = 0
    elsewhere: float | None = None
    no_blank: float = 0.0
    lapses: float = 0.0
    copy: bool = False
    by: str = ""
    share: float | None = None
    texts: str = ""
    rates: tuple[float, float] = (0.2, 0.8)
    n_models: int = 6
    framings: int = 3
    models_known: bool = True
    labelled: bool = True
    misnamed: bool = False
    coarse: bool = False
    grouped: bool = False
    blank: float = 0.0

    def panel(self, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame | None]:
        """Draw a sweep, its questions (id, question, topic; wording_of where grouped), a panel, and its respondents."""
        share = (0.9 if self.by == "wordings" else 0.5) if self.share is None else self.share
        drawn = real_questions(rng, self.texts, self.n_questions) if self.texts else None
        topics = None if drawn is None else np.unique([each.topic for each in drawn], return_inverse=True)[1]
        n_clusters = {"topics": N_TOPICS, "wordings": self.n_questions // N_WORDINGS}
        clustering = share if self.by in n_clusters else 0.0
        sweep = simulate_sweep(
            rng,
            self.n_questions,
            self.n_magnitudes,
            clustering=clustering,
            n_topics=n_clusters.get(self.by, 8),
            topics=topics,
        )
        if self.by == "drift":
            sweep = put_in_drifting_order(rng, sweep)
        questions = sweep.drop_duplicates("question_id").sort_values("question_id").reset_index(drop=True)
        ease = dial_ease(rng, sweep)[:, 0]
        of_question = rng.standard_normal(self.n_questions)
        length = rng.standard_normal(self.n_questions)
        scale = self.r * ease + np.sqrt(1 - self.r**2) * of_question
        if self.by == "topics":
            shared = pd.Series(ease).groupby(questions["topic"]).transform("mean").to_numpy()
            within = self.r * (ease - shared) / (ease - shared).std() + np.sqrt(1 - self.r**2) * of_question
            scale = np.sqrt(share) * shared / shared.std() + np.sqrt(1 - share) * within
        if self.by == "wordings":
            alike = rng.standard_normal(n_clusters[self.by])
            scale = np.sqrt(share) * alike[questions["topic"].astype(int)] + np.sqrt(1 - share) * of_question
        if self.by == "drift":
            scale = np.sqrt(share) * drifting(rng, self.n_questions) + np.sqrt(1 - share) * scale
        if self.elsewhere is not None:
            there = questions["topic"].astype(int).to_numpy() % 2 == 1
            scale[there] = (self.elsewhere * ease + np.sqrt(1 - self.elsewhere**2) * of_question)[there]
        if self.coarse:
            of_question = np.unique(questions["topic"], return_inverse=True)[1]
            questions["topic"] = (3 * of_question // (of_question.max() + 1)).astype(str)
        if self.misnamed:
            questions["topic"] = rng.integers(8, size=self.n_questions).astype(str)
        if self.coarse or self.misnamed:
            splits = assign_splits(questions.rename(columns={"question_id": "id"}), seed=0)
            by_id = questions.assign(split=splits.to_numpy()).set_index("question_id")
            sweep = sweep.assign(**{name: sweep["question_id"].map(by_id[name]) for name in ("topic", "split")})
        if not self.labelled:
            asked = pd.DataFrame({"id": questions["question_id"]})
            if self.grouped:
                asked["wording_of"] = questions["topic"]
            splits = dict(zip(asked["id"], assign_splits(asked, seed=0), strict=True))
            sweep = sweep.assign(topic="", split=sweep["question_id"].map(splits))
            questions = questions.assign(topic="", wording_of=asked.get("wording_of"))
        if self.by == "length":
            length = np.sqrt(0.5) * (ease + length)
            scale = np.sqrt(0.5) * (length + of_question)
        model = np.repeat(np.arange(self.n_models), self.framings)
        scales = np.repeat(scale[:, None], len(model), axis=1)
        if self.related is not None:
            followed = self.related * ease + np.sqrt(1 - self.related**2) * rng.standard_normal(self.n_questions)
            scales[:, model < self.n_related] = followed[:, None]
        if self.apart:
            scales[:, model >= self.n_related] = rng.standard_normal((self.n_questions, self.n_models))[
                :, model[model >= self.n_related]
            ]
        noise = rng.standard_normal((self.n_questions, self.n_models))[:, model] + rng.standard_normal(scales.shape)
        latent = self.loading * scales + np.sqrt(0.5 * (1 - self.loading**2)) * noise
        if self.closeness is not None:
            tunes = model < self.n_related
            parent = self.loading * scales[:, tunes] + np.sqrt(1 - self.loading**2) * rng.standard_normal(
                (self.n_questions, 1)
            )
            change = rng.standard_normal(parent.shape)
            latent[:, tunes] = np.sqrt(self.closeness) * parent + np.sqrt(1 - self.closeness) * change
        cuts = stats.norm.ppf(1 - rng.permutation(np.linspace(*self.rates, len(model))))
        answers = (latent > cuts).astype(float)
        if self.copy:
            unsteered = sweep[sweep["magnitude"] == 0].sort_values("question_id")["margin"].to_numpy() > 0
            answers[:, model == 0] = unsteered[:, None]
        if self.copied:
            same = np.flatnonzero(rng.random(self.n_questions) < 0.5)
            answers[same] = answers[same][:, np.arange(len(model)) % self.framings]
        if self.steered:
            own_answers = (ease[:, None] > cuts) != (rng.random(answers.shape) < 0.05)
            answers[:, model < self.steered] = own_answers[:, model < self.steered]
        if self.lapses:
            answers = np.where(rng.random(answers.shape) < self.lapses, rng.random(answers.shape) < 0.5, answers)
        if self.no_blank:
            answers[(answers == 0) & (rng.random(answers.shape) < self.no_blank)] = np.nan
        if self.blank:
            hard = ease < np.median(ease)
            answers[(answers == 1) & hard[:, None] & (rng.random(answers.shape) < self.blank)] = np.nan
        names = [f"model {number}: framing {place % self.framings}" for place, number in enumerate(model)]
        panel = pd.DataFrame(answers, index=questions["question_id"].to_numpy(), columns=names)
        respondents = pd.DataFrame({"model": [f"model {number}" for number in model]}, index=names)
        shown = ["x" * n + f" {place}" for place, n in enumerate((60 + 15 * length).clip(1).round().astype(int))]
        if self.labelled:  # a text knows its topic
            shown = [
                f"{'abcdefghijklmnopqrst'[int(name)] * 9} {text}"
                for name, text in zip(questions["topic"], shown, strict=True)
            ]
        if drawn is not None:
            shown = [each.rendered for each in drawn]
        asked = pd.DataFrame({"id": questions["question_id"], "question": shown, "topic": questions["topic"]})
        if self.grouped:
            asked["wording_of"] = questions["wording_of"]
        return sweep, asked, panel, respondents if self.models_known else None


def drifting(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw standard normal values along a file, each .98 of the one before and .2 of its own."""
    steps = np.sqrt(1 - 0.98**2) * rng.standard_normal(n)
    steps[0] = rng.standard_normal()
    return lfilter([1.0], [1.0, -0.98], steps)


def put_in_drifting_order(rng: np.random.Generator, sweep: pd.DataFrame) -> pd.DataFrame:
    """Rename the questions so that half of what tells their order apart drifts along the ids."""
    ids = np.sort(sweep["question_id"].unique())
    alike = np.sqrt(0.5) * (dial_ease(rng, sweep)[:, 0] + rng.standard_normal(len(ids)))
    new = ids[np.argsort(drifting(rng, len(ids)))]
    renamed = dict(zip(ids[np.argsort(alike)], new, strict=True))
    return sweep.assign(question_id=sweep["question_id"].map(renamed)).sort_values(["question_id", "magnitude"])


def real_questions(rng: np.random.Generator, texts: str, n: int) -> list[Question]:
    """Draw so many of a set's questions, in the order drawn."""
    with noticed(lambda text: None):
        known = load_questions(texts)
    return [known[place] for place in rng.permutation(len(known))[:n]]


def one_row(cell: str, seed: int, n_draws: int = N_DRAWS) -> Found:
    """Judge one simulated panel."""
    rng = np.random.default_rng([seed, *cell.encode()])
    sweep, questions, panel, respondents = Planted(**CELLS[cell]).panel(rng)
    about = questions.assign(id=questions["id"].astype(str)).set_index("id")
    case = sweep_grid(sweep).beside(panel, respondents, about=about, n_resamples=n_draws, seed=seed)
    prediction, _ = predict(case, (DIAL, LENGTH, TOPICS, MEAN, SHARED))
    verdict = judge(case, prediction)
    return {
        "reproduced": verdict.reproduced,
        "flags": "; ".join(verdict.flags),
        "n_predicted": prediction.n_predicted,
        "n_models": prediction.n_models,
        "bits": prediction.bits.value,
        "yes_rate": prediction.yes_rate,
        "share": prediction.share.value,
        "share_low": prediction.share.low,
        "share_high": prediction.share.high,
        "reproduced_if_named": verdict.reproduced in (NOT_ENOUGH, REPRODUCED)
        and replace(prediction, topics=True).suffices,
        "hangs_on_kin": prediction.hangs_on_kin,
        "alike": prediction.alike.value,
        "alike_high": prediction.alike.high,
        "signal": verdict.signal.value,
        "gain_low": verdict.gain.low,
    }


def operating_table(table: pd.DataFrame) -> pd.DataFrame:
    """Count by cell the verdicts with each answer and each flag, and average the numbers."""
    flags_of_row = table["flags"].fillna("").str.split("; ")
    counted: dict[str, Any] = {answer: table["reproduced"] == answer for answer in ANSWERS}
    counted |= {flag: flags_of_row.map(lambda flags, flag=flag: flag in flags) for flag in FLAGS}
    undecided = table["reproduced"].isin([CANNOT_BE_JUDGED, NOT_REPRODUCED])
    counted["hangs on kin"] = table["hangs_on_kin"].astype(bool)
    counted["reproduced by rule 3"] = (table["gain_low"] > 0) & ~undecided
    counted["reproduced were topics named"] = table["reproduced_if_named"].astype(bool)
    counts = pd.DataFrame(counted).groupby(table["cell"], sort=False).sum()
    numbers = ["n_predicted", "n_models", "bits", "yes_rate", "share"]
    by_cell = table.groupby("cell", sort=False)
    return one_line_each(pd.concat([by_cell.size().rename("n"), counts, by_cell[numbers].mean()], axis=1))


SIMULATION = Simulation(
    {"panels": [Cell(name, SETS, partial(one_row, name)) for name in CELLS]},
    operating_table,
    lambda: {"rule": RULE, "n_draws": N_DRAWS},
)
