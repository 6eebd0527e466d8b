"""Teach every model the same lists of every model, and let it predict lists that it has not seen.

The lists are those that the models gave in the association test; half of the words, by hash, are taught.
"""

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from onedial.asking.instruments import Instrument
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import Prompt
from onedial.asking.respondents import RESPONDENTS, Identity, Response
from onedial.asking.store import Store
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.run.run import Run
from onedial.selfreport.ask.self_prediction import ASSOCIATION
from onedial.selfreport.score.tuned_prediction import tuned_prediction
from onedial.studies.battery.respondents import models_elsewhere

if TYPE_CHECKING:
    from onedial.models.model import OpenModel

FEWEST = 5
"""Of either outcome among what is taught of a target."""
FEWEST_MODELS = 2
COLUMNS = ["predictor", "target", "unit", "item", "margin", "answer", "share"]
KEYS = ["predictor", "target", "unit", "item"]


def check_tuned(models: Sequence[str]) -> None:
    """Refuse what cannot be tuned, before a model is loaded.

    Raises:
        InputError: fewer than two models, one that runs elsewhere, or peft is not installed.
    """
    if others := [*models_elsewhere(models), *(name for name in models if name in RESPONDENTS)]:
        raise InputError(f"{others[0]} is no model of this machine and cannot be tuned; give local ones with --tuned")
    if len(models) < FEWEST_MODELS:
        raise InputError(f"--tuned sets models beside each other, and --model names {len(models)}; give two or more")
    if importlib.util.find_spec("peft") is None:
        raise InputError("--tuned needs peft, which is not installed; python -m pip install -e '.[adapters]'")


def tuned_answers(
    run: Run, store: Store, models: Sequence[str], association: pd.DataFrame, seed: int
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Held-out predictions of every tuned model of every model's lists; what the store holds is not tuned again.

    Args:
        association: of all models (`ask_association`).

    Returns:
        Predictions as `tuned_prediction` reads them, and why models are left out: those of which there is too little to
        teach, and those that no adapter fits.
    """
    from onedial.core.progress import progress_bar

    words = sorted(association["word"].unique(), key=lambda word: sha256_of_text(f"{seed} {word}"))
    known = association.dropna(subset=["listed"])
    taught = known["word"].isin(words[: len(words) // 2])
    left_out: dict[str, str] = {}
    for name in models:
        of_target = known["model"] == name
        listed, n_taught = int(known.loc[of_target & taught, "listed"].sum()), int((of_target & taught).sum())
        if min(listed, n_taught - listed) < FEWEST:
            left_out[name] = (
                f"its lists of the taught half of the words, where they could be read, hold {listed} of {n_taught} "
                f"option words; it takes {FEWEST} that they hold and {FEWEST} that they do not"
            )
        elif not (of_target & ~taught).any():
            left_out[name] = "none of its lists of the other half, which are to be predicted, could be read"
    kept = [name for name in models if name not in left_out]
    tables = [pd.DataFrame(columns=COLUMNS)]
    for predictor in kept if len(kept) >= FEWEST_MODELS else ():
        try:
            with run.stage(f"{predictor}, tuned"), progress_bar(len(kept), f"{predictor}, tuned") as advance:
                tables += _predictions_of(store, predictor, kept, known, taught, seed, advance)
        except InputError as error:  # such as a model that no adapter fits
            left_out[predictor] = str(error)
    table = pd.concat(tables[1:] or tables, ignore_index=True)
    table = table[~table["predictor"].isin(left_out) & ~table["target"].isin(left_out)]
    table = table.sort_values(KEYS, kind="stable", ignore_index=True)
    return (table if table["target"].nunique() >= FEWEST_MODELS else table.iloc[:0]), left_out


class Tuned:
    """Fulfils `onedial.asking.respondents.Respondent`: a model that is taught whenever it is asked, then as it was.

    Args:
        lesson: word, option, and whether the target's list held it (`listed`).
    """

    def __init__(self, model: "OpenModel", target: str, lesson: pd.DataFrame, seed: int) -> None:
        self._model, self._lesson, self._seed = model, lesson[["word", "option", "listed"]], seed
        digest = sha256_of_text(self._lesson.to_csv(index=False))
        setting = f"tuned to {target}'s lists {digest[:16]} from seed {seed}"
        self.identity = Identity(model.identity.name, model.identity.fingerprint, setting)

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """What the taught model answers; raises as `tuned_to_answers` and `LocalRespondent.answer`."""
        from onedial.models.respondent import LocalRespondent
        from steering.dials.adapters import tuned_to_answers

        lesson = self._lesson
        taught = [ASSOCIATION.prompt(word=word, option=option) for word, option, _ in lesson.itertuples(index=False)]
        with tuned_to_answers(self._model, taught, lesson["listed"].tolist(), seed=self._seed):
            yield from LocalRespondent(self._model).answer(prompts, instrument)


def _predictions_of(
    store: Store,
    predictor: str,
    targets: Sequence[str],
    known: pd.DataFrame,
    taught: pd.Series,
    seed: int,
    advance: Callable[[int], None],
) -> list[pd.DataFrame]:
    """What one model, tuned to half of each target's lists in turn, says of the other half: a table of each target."""
    from onedial.models.model import load_model

    model, tables = load_model(predictor), []
    for target in targets:
        of_target = known["model"] == target
        lesson, left = known[of_target & taught], known[of_target & ~taught]
        with store.occasion("tuned"):
            tuned = store.respondent(predictor, Tuned(model, target, lesson, seed), seed)
            slots: list[Any] = left[["word", "option"]].to_dict("records")
            margins = ask_table(tuned, ASSOCIATION, slots)["margin"].tolist()
        table = pd.DataFrame(
            {"unit": left["word"], "item": left["option"], "margin": margins, "answer": left["listed"]}
        )
        tables.append(table.assign(predictor=predictor, target=target, share=lesson["listed"].mean())[COLUMNS])
        advance(1)
    return tables


def score_tuned(
    answers: pd.DataFrame,
    left_out: Mapping[str, str],
    families: Mapping[str, str] | None,
    n_bootstrap: int,
    seed: int,
) -> tuple[pd.DataFrame | None, list[str]]:
    """The table of `tuned_prediction`, None where fewer than two models could be tuned; and what is to be said."""
    sentences = [f"tuned: {name} is left out; {why}" for name, why in left_out.items()]
    if answers.empty:
        return None, [*sentences, "tuned: fewer than two models are left, and none is tuned; ask of more words"]
    table = tuned_prediction(answers, families, n_bootstrap, seed)
    itself = table[table["relation"] == "itself"].drop("mean", errors="ignore")
    if itself["accuracy"].isna().all():
        return table, [*sentences, "tuned: after tuning no yes or no could be read; ask other models"]
    words = (
        f"after equal tuning the models predict their own lists with accuracy {itself['accuracy'].mean():.3f} (the "
        f"majority class alone: {itself['majority'].mean():.3f})"
    )
    for relation, row in table.loc["mean"].iterrows():
        low, high = row["beyond_learning_low"], row["beyond_learning_high"]
        ends = f"{low:+.3f} to {high:+.3f}" if low <= high else "too few words for an interval"
        whose = "a sibling" if relation == "sibling" else "another model"
        words += f"; {row['beyond_learning']:+.3f} ({ends}) better than {whose} does"
    return table, [*sentences, words]
