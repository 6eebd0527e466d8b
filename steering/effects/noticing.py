"""Ask a subject whether it notices an injected direction, beside all that would look the same.

For each concept (a word with a direction of its own) and each magnitude, in logits of yes against no and as shifts
from the unsteered subject:

    notice      "do you notice a thought that was put into your mind?"
    reversed    the same in reverse: yes says that nothing was put there
    control     mean over yes/no questions about the world whose right answer is no: a raised yes

    detection = notice - control          per concept; its mean with a 95% interval over concepts
    contrast  = (notice - reversed) / 2   what a raised yes cannot move

beside random directions of the same length, and of the same effect on neutral text (KL). `d_prime` is
Phi^-1(yes rate of `notice`) - Phi^-1(yes rate of `control`) under the same pushes, each (k + .5) / (n + 1). Naming is
the share of concepts that come first among all concepts' words when the subject is asked which one it was (`named`),
beside chance (1 / concepts) and beside the same when nothing is asked about it (`anyway`).

What is concluded (`conclusions_of`), for each magnitude:

    noticed             detection and contrast lie above 0, and detection above that of either kind of random direction
    any push does it    detection and contrast lie above 0, and random directions do the same
    a raised yes        `notice` rises, and beyond the control questions, or against the reverse, nothing is left
    nothing rises       `notice` does not rise
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import norm, t

from onedial.asking.instruments import FACT, YES_NO, YES_NO_TOKENS, Instrument, Scale, TokenReader
from onedial.asking.prompts import PromptTemplate
from onedial.asking.respondents import Respondent
from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.core.progress import progress_bar
from onedial.core.run.parts import Parts
from onedial.models.forward.activations import Activations, read_streams
from onedial.models.model import OpenModel
from onedial.models.questions import as_prompts
from onedial.models.respondent import LocalRespondent
from onedial.panels.questions.facts import load_facts, load_passages
from onedial.selfreport.ask.self_reports import MIND_IS_CHANGED, NOTICED, UNNOTICED
from onedial.stats.shares import wilson_interval
from steering.contrasts import Contrast
from steering.effects.side_effects import kl_on_text
from steering.interventions import Intervention, SteeringVector
from steering.respondent import SteeredRespondent
from steering.vectors import random_vector, vectors_of

CONCEPTS = tuple((Path(__file__).parent / "concepts.txt").read_text(encoding="utf-8").split())
ABOUT = ("Tell me about {}.", "What comes to mind when you think of {}?", "Write a sentence about {}.")
N_CONTROLS, N_PASSAGES = 12, 16
FEWEST_CONCEPTS = 8
"""For an interval over concepts."""
UNREAD = "too few answers can be read"
CONCEPT, RANDOM, EQUAL_KL = "concept", "random", "random, equal KL"
KINDS = (CONCEPT, RANDOM, EQUAL_KL)
ANSWER_COLUMNS = ["kind", "concept", "magnitude", "asked", "item", "margin", "mass", "option"]
ANSWER_KEY = ["magnitude", "kind", "concept", "asked", "item"]
SCORE_COLUMNS = [
    "magnitude", "kind", "n", "n_unread", "notice", "notice_low", "notice_high", "reversed", "control", "detection",
    "detection_low", "detection_high", "contrast", "contrast_low", "contrast_high", "d_prime", "named", "named_low",
    "named_high", "anyway",
]  # fmt: skip

_REQUESTS = {
    "notice": f"{MIND_IS_CHANGED}{NOTICED[0]} Answer with yes or no.",
    "reversed": f"{MIND_IS_CHANGED}{UNNOTICED[0]} Answer with yes or no.",
    "named": f"{MIND_IS_CHANGED}The thought is about one word. Which word is it? Answer with that word alone.",
    "anyway": "Say any word. Answer with that word alone.",
}
ASKED = {name: PromptTemplate(words, "Answer:", name, ()) for name, words in _REQUESTS.items()}


@dataclass(frozen=True)
class Trial:
    """One push: of a concept's direction, or of a random one in its place; magnitude 0 is no push."""

    kind: str
    concept: str
    magnitude: float


def noticing_of_model(
    model: OpenModel,
    layer: int,
    magnitudes: Sequence[float],
    *,
    concepts: Sequence[str] = CONCEPTS,
    positions: str = "all",
    seed: int = 0,
    parts: Parts | None = None,
) -> pd.DataFrame:
    """All answers of a model, unsteered and under each push (`answers_to`).

    Args:
        layer: after which directions are read and injected. magnitudes: in residual norms, above 0.
        parts: of a run, in which answers are kept as they come; what stands there is not asked again.

    Raises:
        InputError: fewer than `FEWEST_CONCEPTS` concepts that tokens tell apart, or a magnitude not above 0.
    """
    if not magnitudes or min(magnitudes) <= 0:
        raise InputError("noticing is asked at magnitudes above 0, such as 0.5; a concept has no other side")
    spellings = told_apart(model, concepts)
    words = list(spellings)
    if len(words) < FEWEST_CONCEPTS:
        raise InputError(
            f"{len(words)} concepts begin with tokens that no other begins with; give at least {FEWEST_CONCEPTS}"
        )
    pushes = {
        (CONCEPT, word): Intervention(f"{CONCEPT} {word}", (vector,), positions=positions)
        for word, vector in concept_vectors(model, words, layer).items()
    }
    for place, word in enumerate(words):
        drawn = random_vector(pushes[CONCEPT, word].vectors[0], seed + place)
        for kind in (RANDOM, EQUAL_KL):
            pushes[kind, word] = Intervention(f"{kind} {word}", (drawn,), positions=positions)
    lengths = equal_effects(model, pushes, words, magnitudes)

    def respondent(trial: Trial) -> Respondent:
        if not trial.magnitude:
            return LocalRespondent(model)
        length = lengths.get((trial.concept, trial.magnitude), trial.magnitude)
        turned = length if trial.kind == EQUAL_KL else trial.magnitude
        return SteeredRespondent(model, pushes[trial.kind, trial.concept], turned)

    return answers_to(respondent, spellings, magnitudes, seed, parts)


def answers_to(
    respondent: Callable[[Trial], Respondent],
    spellings: Mapping[str, tuple[str, ...]],
    magnitudes: Sequence[float],
    seed: int = 0,
    parts: Parts | None = None,
) -> pd.DataFrame:
    """What a subject answers without a push and under each.

    Args:
        respondent: the subject under a trial's push. spellings: of each concept's word, as an answer may begin.
        parts: of a run, with `ANSWER_COLUMNS` and `ANSWER_KEY`; a part for each kind of push at a magnitude.

    Returns:
        `ANSWER_COLUMNS`: asked is "notice", "reversed", "control", "named" or "anyway"; item: which control question;
        margin: logits of yes against no; option: the concept whose word comes first. Unsteered rows have kind "none".
    """
    controls = [fact for fact in load_facts(2 * N_CONTROLS, seed) if fact.answers[0] == "no"]
    yes_no = {name: Instrument(name, ASKED[name], YES_NO, YES_NO_TOKENS) for name in ("notice", "reversed")}
    concepts, words = list(spellings), TokenReader(spellings)
    scale = Scale("options", tuple(concepts))
    naming = {name: Instrument(name, ASKED[name], scale, words) for name in ("named", "anyway")}

    def rows_of(trial: Trial) -> Iterator[tuple[Any, ...]]:
        subject, about = respondent(trial), (trial.kind, trial.concept, trial.magnitude)
        for name, instrument in yes_no.items():
            for answer in subject.answer([instrument.prompt()], instrument):
                yield *about, name, 0, answer.margin, answer.mass, ""
        for answer in subject.answer([FACT.prompt(each.text) for each in controls], FACT):
            yield *about, "control", answer.place, answer.margin, answer.mass, ""
        for name, instrument in naming.items() if trial.kind in (CONCEPT, "none") else ():
            for answer in subject.answer([instrument.prompt()], instrument):
                first = concepts[int(np.argmax(answer.probabilities))] if answer.probabilities else ""
                yield *about, name, 0, np.nan, answer.mass, first

    pushes = [("none", 0.0), *((kind, float(magnitude)) for magnitude in magnitudes for kind in KINDS)]
    asked = {(kind, float(magnitude)) for magnitude, kind, *_ in (parts.done_keys() if parts else ())}
    tables = []
    with progress_bar(1 + len(concepts) * (len(pushes) - 1), "was I steered?") as step:
        for kind, magnitude in pushes:
            trials = [Trial(kind, word, magnitude) for word in (concepts if kind in KINDS else [""])]
            if (kind, magnitude) not in asked:
                rows = [row for trial in trials for row in rows_of(trial)]
                tables.append(pd.DataFrame(rows, columns=ANSWER_COLUMNS))
                if parts:
                    parts.append(tables[-1])
            step(len(trials))
    return parts.read() if parts else pd.concat(tables, ignore_index=True)


def noticing_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Shifts, detection and naming by magnitude and kind of push, over concepts; see the module's text.

    Args:
        answers: of `answers_to`. An answer with too little mass on yes and no is unread, and its concept left out.

    Returns:
        `SCORE_COLUMNS`; naming is of the concepts' own pushes alone.
    """
    steered = _shifts(answers)
    shifts = _by_push(steered)
    named = answers[answers["kind"] == CONCEPT]
    rows = []
    for (magnitude, kind), every in shifts.groupby(level=["magnitude", "kind"], sort=False):
        known = every.dropna()
        pushed = steered[(steered["magnitude"] == magnitude) & (steered["kind"] == kind)]
        row: dict[str, Any] = {
            "magnitude": magnitude,
            "kind": kind,
            "n": len(known),
            "n_unread": len(every) - len(known),
        }
        for name, values in {
            "notice": known["notice"],
            "detection": known["notice"] - known["control"],
            "contrast": (known["notice"] - known["reversed"]) / 2,
        }.items():
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), mean_and_ends(values.to_numpy()), strict=True))
        row |= {"reversed": known["reversed"].mean(), "control": known["control"].mean(), "d_prime": _d_prime(pushed)}
        if kind == CONCEPT:
            here = named[named["magnitude"] == magnitude]
            hits = (here["option"] == here["concept"]).groupby(here["asked"])
            low, high = wilson_interval(hits.sum(), hits.count())
            row |= {"named": hits.mean()["named"], "named_low": low["named"], "named_high": high["named"]}
            row |= {"anyway": hits.mean()["anyway"]}
        rows.append(row)
    return pd.DataFrame(rows, columns=SCORE_COLUMNS)


def conclusions_of(answers: pd.DataFrame, scores: pd.DataFrame) -> dict[float, str]:
    """Magnitude -> noticed, any push does it, a raised yes, nothing rises, or too few read; see the module's text."""
    conclusions = {}
    for row in scores[scores["kind"] == CONCEPT].sort_values("magnitude").to_dict("records"):
        magnitude = float(row["magnitude"])
        if row["n"] < FEWEST_CONCEPTS:
            conclusions[magnitude] = UNREAD
        elif not row["notice_low"] > 0:
            conclusions[magnitude] = "nothing rises"
        elif not (row["detection_low"] > 0 and row["contrast_low"] > 0):
            conclusions[magnitude] = "a raised yes"
        else:
            beyond = [mean_and_ends(_paired(answers, magnitude, kind))[1] > 0 for kind in (RANDOM, EQUAL_KL)]
            conclusions[magnitude] = "noticed" if all(beyond) else "any push does it"
    return conclusions


def sentence_of(conclusions: Mapping[float, str], scores: pd.DataFrame) -> str:
    """What stands at the head of a page."""
    concept = scores[scores["kind"] == CONCEPT].set_index("magnitude")
    parts = []
    for magnitude, conclusion in conclusions.items():
        row = concept.loc[magnitude]
        parts.append(
            f"at {magnitude:g}: {conclusion} (detection {row['detection']:+.2f}, {row['detection_low']:+.2f} to "
            f"{row['detection_high']:+.2f}; names {row['named']:.0%}, {row['anyway']:.0%} when not asked)"
        )
    if "noticed" in conclusions.values():
        head = "An injected direction is noticed"
    elif set(conclusions.values()) == {UNREAD}:
        head = "Whether an injected direction is noticed cannot be said"
    elif "a raised yes" in conclusions.values():
        head = "No injected direction is noticed: the yes is raised"
    else:
        head = "No injected direction is noticed"
    return f"{head}; {'; '.join(parts)}"


def mean_and_ends(values: np.ndarray) -> tuple[float, float, float]:
    """Mean and 95% interval, m -+ t s / sqrt(n) with n - 1 degrees of freedom; nan ends of fewer than two values.

    >>> [round(float(each), 2) for each in mean_and_ends(np.array([0.0, 1.0, 2.0]))]
    [1.0, -1.48, 3.48]
    """
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return (float(known.mean()) if len(known) else np.nan), np.nan, np.nan
    half = t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known))
    return float(known.mean()), float(known.mean() - half), float(known.mean() + half)


def _shifts(answers: pd.DataFrame) -> pd.DataFrame:
    """The pushed yes/no answers, unread ones nan, with the `shift` of each margin from the unsteered one."""
    read = answers.assign(margin=answers["margin"].where(is_read(answers["mass"])))
    plain = read[read["kind"] == "none"].set_index(["asked", "item"])["margin"]
    steered = read[(read["kind"] != "none") & read["asked"].isin(["notice", "reversed", "control"])]
    unsteered = plain.reindex(pd.MultiIndex.from_frame(steered[["asked", "item"]])).to_numpy()
    return steered.assign(shift=steered["margin"] - unsteered)


def _by_push(steered: pd.DataFrame) -> pd.DataFrame:
    """Mean shift of each push (magnitude, kind, concept), a column for what was asked."""
    by_push = steered.groupby(["magnitude", "kind", "concept", "asked"], sort=False)["shift"]
    return by_push.mean().unstack("asked")


def _paired(answers: pd.DataFrame, magnitude: float, kind: str) -> np.ndarray:
    """Detection of each concept's direction less that of the random one in its place."""
    shifts = _by_push(_shifts(answers)).loc[magnitude]
    detection = shifts["notice"] - shifts["control"]
    return (detection[CONCEPT] - detection[kind]).to_numpy()


def _d_prime(rows: pd.DataFrame) -> float:
    """Compute d' of yes to `notice` against yes to the control questions, each rate (k + .5) / (n + 1)."""
    rates = []
    for name in ("notice", "control"):
        margins = rows.loc[rows["asked"] == name, "margin"].dropna()
        rates.append(((margins > 0).sum() + 0.5) / (len(margins) + 1))
    return float(norm.ppf(rates[0]) - norm.ppf(rates[1]))


# ---- directions ------------------------------------------------------------------------------------------------------


def told_apart(model: OpenModel, concepts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Concept -> the spellings of its word that begin with a token with which no other concept's begin."""
    spelt = {word: (f" {word}", word, f" {word.title()}", word.title()) for word in concepts}
    first = {
        (word, form): model.tokenizer.encode(form, add_special_tokens=False)[0]
        for word, forms in spelt.items()
        for form in forms
    }
    n_words = pd.Series(first).groupby(pd.Series(first)).agg(lambda rows: rows.index.get_level_values(0).nunique())
    apart = {word: tuple(form for form in forms if n_words[first[word, form]] == 1) for word, forms in spelt.items()}
    return {word: forms for word, forms in apart.items() if forms}


def concept_vectors(model: OpenModel, concepts: Sequence[str], layer: int) -> dict[str, SteeringVector]:
    """Make each concept's direction: the mean stream after prompts about it minus that after prompts about all others.

    Injections go far beyond what was seen on purpose, so `seen` is left out, and nothing warns of it.
    """
    prompts = as_prompts([form.format(word) for word in concepts for form in ABOUT])
    streams = read_streams(model, [tuple(ids) for ids in model.token_ids(prompts)], [layer])
    names, known = tuple(f"text {place}" for place in range(len(streams))), torch.ones(len(streams))
    read, of = Activations(names, (layer,), known, known, streams), torch.arange(len(streams)) // len(ABOUT)
    vectors = {}
    for place, word in enumerate(concepts):
        mine = of == place
        sides = torch.where(mine)[0], torch.where(~mine)[0]
        contrast = Contrast("texts", (layer,), streams[mine], streams[~mine], read, rows=sides)
        (vector,) = vectors_of(model.identity, contrast)
        vectors[word] = replace(vector, seen=0.0)
    return vectors


def equal_effects(
    model: OpenModel,
    pushes: Mapping[tuple[str, str], Intervention],
    concepts: Sequence[str],
    magnitudes: Sequence[float],
) -> dict[tuple[str, float], float]:
    """(concept, magnitude) -> how far its random direction goes for the same KL on neutral text, by log-log lines."""
    grid = sorted({factor * m for m in magnitudes for factor in (0.5, 1.0, 2.0, 4.0)})
    every = [pushes[kind, word] for word in concepts for kind in (CONCEPT, EQUAL_KL)]
    settings = {
        each.intervention_id: grid if each.intervention_id.startswith(EQUAL_KL) else list(magnitudes) for each in every
    }
    passages = load_passages()[:N_PASSAGES]
    kl = (
        kl_on_text(model, every, settings, passages=passages)
        .set_index(["intervention_id", "magnitude"])["kl"]
        .clip(lower=1e-12)
    )
    strengths = {}
    for word in concepts:
        drawn = np.log(kl[pushes[EQUAL_KL, word].intervention_id].sort_index())
        rising = np.maximum.accumulate(drawn.to_numpy())
        for m in map(float, magnitudes):
            wanted = np.log(kl[pushes[CONCEPT, word].intervention_id, m])
            strengths[word, m] = float(np.exp(np.interp(wanted, rising, np.log(drawn.index.to_numpy(dtype=float)))))
    return strengths
