"""A collection of answers: who is asked which questions, what stands in its parts already, what that did cost.

    collection = Collection(models, questions, run.parts("measurements", COLLECTED, ROW), seed=0, closed_book=True)
    collection.missing()      # to be asked; nothing more after the last answer has come
    collection.rows()         # what was asked of whom, and what they said

`collecting` tells one answer from another, and asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking import CLOSED_BOOK, Prompt, Question, stratified_sample
from onedial.core import LEDGER, InputError, Ledger, Parts, Run, one_line, read_ledger, read_table
from onedial.panels.collecting.collecting import (
    ANSWER,
    COLLECTED,
    ROW,
    Pending,
    answered,
    instruments_of,
    key_of,
    latest,
    pending_of,
    samples_of,
)
from onedial.panels.collecting.costs import CHARACTERS_PER_TOKEN, WRITTEN, Price, actual_costs, most_tokens_of
from onedial.panels.collecting.judging import JUDGE, JUDGED, JUDGED_KEY, judge_prompt
from onedial.panels.collecting.model_changes import changes_of_model
from onedial.panels.collecting.respondent_files import RespondentModel

_TOKENS = ["tokens_in", "tokens_out", "most_in", "most_out"]
_OF_AN_ATTEMPT = [*ANSWER, "instrument", "outcome", "answered_at", *_TOKENS, "price"]


@dataclass(frozen=True)
class Collection:
    """What is asked of whom, beside the answers that have come.

    Attributes:
        models: as `load_respondents` gives them.
        questions: of the collection; a model with `n_questions` is asked a draw of them.
        parts: the answers (`COLLECTED`, keyed by `ROW`).
        seed: of these draws.
        closed_book: whether each question itself is asked too.
        judge: of the answers to these; its attempts are of this collection's ledger.
    """

    models: Sequence[RespondentModel]
    questions: list[Question]
    parts: Parts
    seed: int
    closed_book: bool
    judge: RespondentModel | None = None

    __repr__ = one_line

    def questions_of(self, entry: RespondentModel) -> list[Question]:
        """The questions that one model is asked."""
        if entry.n_questions is None:
            return self.questions
        return stratified_sample(self.questions, entry.n_questions, self.seed)

    def missing(self, models: Sequence[RespondentModel] | None = None) -> list[Pending]:
        """What is to be asked and has no answer yet, of all models or of these."""
        done = answered(read_table(file, [*ANSWER, "error"]) for file in self.parts.files())
        entries = [(entry, self.questions_of(entry)) for entry in (self.models if models is None else models)]
        return pending_of(entries, self.closed_book, done)

    def rows(self, *, may_lack: bool = False) -> pd.DataFrame:
        """What is asked now, in its order, with the entry's `label`; what was asked in another wording is left out.

        Args:
            may_lack: some may not have been answered yet; they are left out.

        Raises:
            InputError: some were not answered yet.
        """
        keys = {
            key_of(entry, instrument, question, sample): entry.label
            for entry in self.models
            for instrument in instruments_of(entry, self.closed_book)
            for sample in samples_of(entry, instrument)
            for question in self.questions_of(entry)
        }
        index = pd.MultiIndex.from_tuples(list(keys), names=ANSWER)
        stored = latest(self.parts.read()).astype({"sample": int}).set_index(ANSWER)
        here = index.isin(stored.index)
        if not here.all() and not may_lack:
            raise InputError(f"{self.parts.folder} lacks {(~here).sum()} of {len(index)} answers; pass --resume")
        found = stored.loc[index[here]].reset_index()
        return found.assign(label=[label for label, is_here in zip(keys.values(), here, strict=True) if is_here])

    def judge_prompts(self, n: int | None = None) -> list[Prompt]:
        """About what a judge of closed-book answers is still to be asked, before these are there.

        Args:
            n: of so many answers; None judges all.
        """
        given = "x" * CHARACTERS_PER_TOKEN * WRITTEN["closed book"]
        prompts = [
            judge_prompt(question, given)
            for entry in self.models
            if CLOSED_BOOK.name in {each.name for each in instruments_of(entry, self.closed_book)}
            for question in self.questions_of(entry)
            if question.answers
        ][:n]
        judged = Parts(self.parts.folder.parent / "judged", JUDGED, JUDGED_KEY).done_keys()
        return prompts[len(judged) :]

    def ledger_file(self) -> Path:
        """Where the run's ledger lies."""
        return self.parts.folder.parent / LEDGER

    def attempts(self) -> pd.DataFrame:
        """Every attempt to have an answer from a provider, retries, probes and what a kill cut short included.

        An answer that stands in the parts and in no ledger was collected before there was one: its row is its attempt,
        and a failed one counts as often as it may have been made.

        Returns:
            `ANSWER`, instrument, outcome (unknown where it has not ended), answered_at, tokens_in, tokens_out, most_in,
            most_out, and price (as a mapping; nan where there was none) when it was made.
        """
        entries = {model.label: model for model in self.models if model.provider is not None}
        table = pd.DataFrame(read_ledger(self.ledger_file()), columns=["attempt", *_OF_AN_ATTEMPT])
        table["outcome"] = table["outcome"].fillna("unknown")
        rows = self.parts.read()
        rows = rows[rows["respondent"].map(_label).isin(entries)].astype({"sample": int})
        noted = set(table[[*ANSWER, "answered_at"]].itertuples(index=False, name=None))
        new = [row not in noted for row in rows[[*ANSWER, "answered_at"]].itertuples(index=False, name=None)]
        open_at = {tuple(row[1:]): row[0] for row in table[table["outcome"] == "unknown"][ANSWER].itertuples(name=None)}
        earlier = []
        for row in rows[new].to_dict("records"):
            fine = not row["error"]
            at = open_at.pop(tuple(row[name] for name in ANSWER), None) if fine else None
            if at is not None:  # killed between the row and the attempt's end
                table.loc[at, ["outcome", "tokens_in", "tokens_out"]] = [
                    "answered",
                    row["tokens_in"],
                    row["tokens_out"],
                ]
            else:
                earlier.append(self._earlier_attempt(entries[_label(row["respondent"])], row))
        found = pd.concat([table, pd.DataFrame(earlier, columns=table.columns)]) if earlier else table
        return found[_OF_AN_ATTEMPT].astype(dict.fromkeys(_TOKENS, float)).reset_index(drop=True)

    def _earlier_attempt(self, entry: RespondentModel, row: dict[Any, Any]) -> dict[str, Any]:
        assert entry.provider is not None
        about = {str(name): row[name] for name in [*ANSWER, "instrument", "answered_at", "tokens_in", "tokens_out"]}
        if not row["error"]:
            return about | {"outcome": "answered", "most_in": 0, "most_out": 0}
        if row["error"][:1] == "4":  # the status comes first
            return about | {"outcome": "refused", "tokens_in": 0, "tokens_out": 0}
        asked = [each for each in instruments_of(entry, True) if each.name == row["instrument"]]
        text = {question.id: question.text for question in self.questions}.get(row["question_id"], "")
        most_in = max([most_tokens_of(each.prompt(text)) for each in asked], default=0)
        kind = "closed book" if row["instrument"] == CLOSED_BOOK.name else entry.instrument
        times = entry.provider.retries + 1
        return about | {
            "outcome": "failed",
            "most_in": times * most_in,
            "most_out": times * entry.provider.room(kind),
        }

    def costs(self) -> pd.DataFrame | None:
        """What models of providers were asked and what it cost, failed requests included; None where none was.

        A model that is asked no more has the price of the time when it was.
        """
        attempts = self.attempts()
        if attempts.empty:
            return None
        is_judge = attempts["instrument"] == JUDGE.name
        attempts["respondent"] = attempts["respondent"].where(is_judge, attempts["respondent"].map(_label))
        paid = attempts.dropna(subset="price")
        prices: dict[str, Price | None] = {
            name: Price(**price) for name, price in zip(paid["respondent"], paid["price"], strict=True)
        }
        prices |= {model.label: model.price for model in self.models if model.provider is not None}
        if self.judge is not None:
            prices[self.judge.respondent_for(JUDGE)] = self.judge.price
        return actual_costs(attempts, prices)

    def spent(self) -> float:
        """Money that the attempts so far have cost, or may have."""
        costs = self.costs()
        return 0.0 if costs is None else float(costs["money"].iloc[-1])

    def changed_models(self) -> list[str]:
        """A sentence for each model of a provider that may have become another on the way."""
        rows = self.parts.read()
        names = {model.short_name for model in self.models if model.provider is not None}
        return changes_of_model(rows[rows["model"].isin(names)])

    def take_over(self, other: Path) -> int:
        """Take over the answers of another collection that this one has not; how many these were.

        Its attempts come with them: whoever put them together paid for both.

        Raises:
            InputError: it is no collection, or holds answers of other weights under the same name.
        """
        Run.open(other)  # refuses what is no run, or of a later version
        ours = [read_table(file, [*ANSWER, "error", "model", "model_sha256"]) for file in self.parts.files()]
        done = answered(ours)
        weights = {
            (m, sha) for table in ours for m, sha in table[["model", "model_sha256"]].drop_duplicates().to_numpy()
        }
        Ledger(self.ledger_file()).add(read_ledger(other / LEDGER))
        n_taken = 0
        for file in Parts(other / "measurements", COLLECTED, ROW).files():
            rows = read_table(file).reindex(columns=COLLECTED)
            for model, sha in rows[["model", "model_sha256"]].drop_duplicates().to_numpy():
                if sha and any(name == model and known not in ("", sha) for name, known in weights):
                    raise InputError(
                        f"{other} holds answers of other weights of {model} than {self.parts.folder}; keep them apart"
                    )
                weights.add((model, sha))
            fine = rows["error"].fillna("") == ""
            keys = rows[ANSWER].astype({"sample": int}).itertuples(index=False, name=None)
            new = rows[[is_fine and key not in done for is_fine, key in zip(fine, keys, strict=True)]]
            if len(new):
                self.parts.append(new)
                done |= answered([new])
                n_taken += len(new)
        return n_taken


def _label(respondent: str) -> str:
    """The label of the entry that a respondent's name begins with."""
    return respondent.rpartition(": ")[0]
