"""One setting of the dial, question by question; and one question, at every setting."""

import math
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from onedial.core import InputError, did_you_mean
from onedial.panels import TEST, ResponseMatrix, correctness_of, panel_from_long
from onedial.report import Contents
from onedial.show import number

_WORDS = {1.0: "yes", 0.0: "no"}


class Turned:
    """The dial of one run, each table of it read once. Questions are known by their ids as text."""

    def __init__(self, contents: Contents) -> None:
        self._contents, self.grid = contents, contents.grid
        self._ids = self.grid.questions.astype(str)

    @cached_property
    def _about(self) -> pd.DataFrame:
        questions = self._contents.questions
        return questions.assign(id=questions["id"].astype(str)).set_index("id").reindex(self._ids)

    @cached_property
    def _panel(self) -> ResponseMatrix:
        return panel_from_long(self._contents.panel)

    @cached_property
    def _said(self) -> pd.DataFrame:
        return self._by_id(self._panel.answers)

    @cached_property
    def _turns_at(self) -> list[float]:
        turned = self.grid.dial.crossings
        return [float(own[0]) if own is not None and len(own) else math.nan for own in turned]

    @cached_property
    def _texts(self) -> pd.DataFrame | None:
        """Columns question_id, magnitude, text; None where nothing was written."""
        texts = self._contents.run.reasoned_parts.read()
        texts = texts[texts["intervention_id"] == self._contents.run.under_test()]
        return texts.assign(question_id=texts["question_id"].astype(str)) if len(texts) else None

    @property
    def targets(self) -> list[str]:
        """By name, in the panel's order."""
        return list(map(str, self._said))

    @cached_property
    def rates(self) -> list[tuple[float, float]]:
        """Each magnitude with the yes rate of the test questions there; nan where none was read."""
        answers = pd.DataFrame(self.grid.answers[self.grid.rows(TEST)])
        return list(zip(self.grid.magnitudes.tolist(), answers.mean().tolist(), strict=True))

    def three(self) -> list[float]:
        """No steering, between the magnitudes towards no and towards yes whose yes rate is nearest to .1 and to .9."""
        known = [(magnitude, rate) for magnitude, rate in self.rates if not math.isnan(rate)]
        sides = [(0.1, [each for each in known if each[0] < 0]), (0.9, [each for each in known if each[0] > 0])]
        low_and_high = [min(side, key=lambda each: abs(each[1] - rate))[0] for rate, side in sides if side]
        return sorted([0.0, *low_and_high])

    def setting_of(self, wanted: str) -> int:
        """Place of the swept magnitude that is nearest to one in an address; the unsteered one where there is none.

        Raises:
            InputError: it is no number.
        """
        if not wanted:
            return self.grid.unsteered
        try:
            value = float(wanted)
        except ValueError:
            value = math.nan
        magnitudes = self.grid.magnitudes
        if not math.isfinite(value):
            ends = f"{number(magnitudes[0])} to {number(magnitudes[-1])}"
            raise InputError(f"magnitude={wanted} is no number; take one from {ends}")
        return int(np.abs(magnitudes - value).argmin())

    def said_of(self, setting: int) -> str:
        """What this setting does, in words."""
        grid, test = self.grid, self.grid.rows(TEST)
        now, before = grid.answers[test, setting], grid.answers[test, grid.unsteered]
        unread, rate = int(np.isnan(now).sum()), self.rates[setting][1]
        told = f"yes to {number(rate)} of {len(now) - unread} test questions, {unread} unread"
        if setting == grid.unsteered:
            return f"{told}; this is the subject without steering"
        to_yes, to_no = int(((now == 1) & (before == 0)).sum()), int(((now == 0) & (before == 1)).sum())
        return f"{told}; against the unsteered subject {to_yes} turned to yes and {to_no} to no"

    def questions_at(self, setting: int, target: str = "") -> pd.DataFrame:
        """A row for each question, at one setting.

        Args:
            setting: column of the grid. target: whose answers to set beside; "" for none.

        Returns:
            Columns question, answer (yes or no; missing where it could not be read), margin (of yes over no), unsteered
            (the answer there), turns_at (where along the dial the answer first turns; missing where it never does),
            targets_yes (share of the targets that say yes); with a target its answer as `target` and whether the two
            `agree`; where the run holds texts, that of the nearest setting as `wrote at ..`; topic and level where they
            are known, split, id.

        Raises:
            InputError: no such target.
        """
        grid, now = self.grid, self.grid.answers[:, setting]
        columns: dict[str, Any] = {
            "question": self._about["question"].astype(str).to_numpy(),
            "answer": _spoken(now),
            "margin": grid.margins[:, setting],
            "unsteered": _spoken(grid.answers[:, grid.unsteered]),
            "turns_at": self._turns_at,
            "targets_yes": self._said.mean(axis=1).to_numpy(),
        }
        if target:
            if target not in self._said:
                near = did_you_mean(target, self.targets)
                raise InputError(f"target={target} is none{near}; choose one of the list")
            said = self._said[target].to_numpy(float)
            agree = np.where(np.isnan(said) | np.isnan(now), np.nan, said == now)
            columns |= {"target": _spoken(said), "agree": _spoken(agree)}
        if self._texts is not None:
            written = self._texts["magnitude"].unique()
            near = written[np.abs(written - grid.magnitudes[setting]).argmin()]
            texts = self._texts[self._texts["magnitude"] == near].set_index("question_id")["text"]
            columns[f"wrote at {near:+.3g}"] = texts.reindex(self._ids).to_numpy(object)
        known = [name for name in ("topic", "level") if name in self._about and self._about[name].notna().any()]
        columns |= {name: self._about[name].to_numpy() for name in known}
        return pd.DataFrame(columns | {"split": grid.splits, "id": self._ids.to_numpy(object)})

    def known(self, question: str) -> str:
        """The id of a question, which is one of the run's.

        Raises:
            InputError: no such question.
        """
        if question not in self._ids:
            raise InputError(f"the run asks no question {question!r}; the dial's page lists them")
        return question

    def one_question(self, question: str) -> tuple[str, pd.DataFrame, pd.DataFrame, Markup]:
        """A question's text, a row for each setting, a row for each target, and its margin as a drawing.

        Raises:
            InputError: no such question.
        """
        grid, row = self.grid, list(self._ids).index(self.known(question))
        columns = {"magnitude": grid.magnitudes, "answer": _spoken(grid.answers[row])}
        settings = pd.DataFrame(columns | {"margin": grid.margins[row], "mass": grid.masses[row]})
        if self._texts is not None:
            own = self._texts[self._texts["question_id"] == question].set_index("magnitude")["text"]
            settings["wrote"] = own.reindex(grid.magnitudes).to_numpy(object)
        targets = pd.DataFrame({"target": self._said.columns.astype(str), "said": _spoken(self._said.iloc[row])})
        if (correct := correctness_of(self._panel)) is not None:
            targets["right"] = _spoken(self._by_id(correct).reindex(columns=self._said.columns).iloc[row])
        text = str(self._about["question"].iloc[row])
        return text, settings, targets, curve(grid.magnitudes, grid.margins[row], "margin")

    def _by_id(self, table: pd.DataFrame) -> pd.DataFrame:
        return table.set_axis(table.index.astype(str)).reindex(self._ids)


def curve(
    magnitudes: np.ndarray, values: np.ndarray, name: str, low: float = math.nan, high: float = math.nan
) -> Markup:
    """A line over the magnitudes, broken where a value is missing.

    Args:
        low, high: ends of its axis; by default those of the values, with 0 among them.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return Markup("")
    low = min(0.0, known.min()) if math.isnan(low) else low
    high = max(0.0, known.max()) if math.isnan(high) else high
    xs = 44 + 540 * (magnitudes - magnitudes[0]) / (np.ptp(magnitudes) or 1.0)
    scale = 150 / ((high - low) or 1.0)
    path, pen, drawn = "", "M", []
    for level in sorted({low, 0.0, high}):
        y = 12 + scale * (high - level)
        drawn.append(
            Markup('<text x="38" y="{:.1f}" text-anchor="end">{}</text><path class="grid" d="M44 {:.1f}H584"/>').format(
                y + 4, number(level, 1), y
            )
        )
    for x, anchor, end in ((44, "start", magnitudes[0]), (584, "end", magnitudes[-1])):
        drawn.append(
            Markup('<text x="{}" y="180" text-anchor="{}">{}</text>').format(x, anchor, number(end, signed=True))
        )
    for x, magnitude, value in zip(xs, magnitudes, values, strict=True):
        if math.isnan(value):
            pen = "M"
            continue
        y = 12 + scale * (high - value)
        path, pen = f"{path}{pen}{x:.1f} {y:.1f}", "L"
        said = f"magnitude {number(magnitude, signed=True)}: {name} {number(value, 2)}"
        drawn.append(
            Markup('<circle class="dot named" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>').format(
                x, y, said
            )
        )
    return Markup(
        '<svg class="drawn" viewBox="0 0 600 190" role="img" aria-label="{} along the magnitudes">{}'
        '<path class="curve" d="{}"/></svg>'
    ).format(name, Markup("").join(drawn), path)


def _spoken(answers: Any) -> list[str | None]:
    return [_WORDS.get(float(value)) for value in answers]
