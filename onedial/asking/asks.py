"""What one respondent is asked together, whether or not it is there yet, and what that is expected to cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.asking.instruments import Instrument, TextReader
from onedial.asking.prompts import Prompt
from onedial.asking.providers.costs import WRITTEN, Price, tokens_of, with_sum
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.respondents import Respondent, prompt_key
from onedial.core.cards import one_line
from onedial.core.files import sha256_of_text

Key = tuple[str, str, str, str, int]
"""respondent, occasion, item, asked, sample: what tells one answer from another, but for how often it is asked."""
_COLUMNS = ["respondent", "instrument", "calls", "tokens_in", "tokens_out", "money", "money_at_most"]


@dataclass(frozen=True)
class Ask:
    """What one respondent is asked together.

    Attributes:
        who: the respondent's name.
        respondent: who answers: a model of a provider by its settings, anybody else in person; None where that is not
            known yet, as of a model that is not loaded.
        occasion: the test that it belongs to; the same prompt on another occasion is asked anew.
        sample: which repeat, or the seed of its draws.
        items: an id of each prompt; empty for none.
        whom: what tells its answers from those of another model or setting: the fingerprint of its weights, or of a
            provider's model its settings.
        label: whose price it is; "" for `who`.
        about: what stands in each of its lines besides.
    """

    who: str
    respondent: Respondent | ProviderModel | None
    prompts: Sequence[Prompt]
    instrument: Instrument
    occasion: str = ""
    sample: int = 0
    items: Sequence[str] = ()
    whom: str = ""
    label: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = one_line

    @cached_property
    def shown(self) -> Sequence[Prompt]:
        """The prompts as they go out, where need be with the request for a last line."""
        if not isinstance(self.respondent, ProviderModel):
            return self.prompts
        return [self.respondent.prompt_for(prompt, self.instrument) for prompt in self.prompts]

    @property
    def keys(self) -> list[Key]:
        """What each answer is kept under."""
        items = self.items or [""] * len(self.prompts)
        whom = f"{self.whom}\x1fschema" if self._by_schema else self.whom
        asked = [sha256_of_text(f"{prompt_key(prompt, self.instrument)}\x1f{whom}") for prompt in self.shown]
        return [(self.who, self.occasion, *pair, self.sample) for pair in zip(items, asked, strict=True)]

    @property
    def _by_schema(self) -> bool:
        return isinstance(self.respondent, ProviderModel) and self.respondent.asks_for(self.instrument) == "schema"

    def only(self, places: Sequence[int]) -> "Ask":
        """The prompts at these places alone."""
        items = [self.items[place] for place in places] if self.items else ()
        return replace(self, prompts=[self.prompts[place] for place in places], items=items)

    @property
    def tokens(self) -> tuple[int, int]:
        """How many an answer usually has, and may have at most; of a model whose logits are read here none."""
        reader = self.instrument.reader
        if isinstance(reader, TextReader):
            usual, most = WRITTEN.get(self.instrument.name, reader.max_new_tokens), reader.max_new_tokens
        else:
            usual, most = (WRITTEN["direct"], 0) if isinstance(self.respondent, ProviderModel) else (0, 0)
        return usual, self.respondent.room_for(self.instrument) if isinstance(self.respondent, ProviderModel) else most


def expected_costs(asks: Iterable[Ask], prices: Mapping[str, Price | None]) -> pd.DataFrame:
    """One row per respondent and instrument, and the sum of all.

    Args:
        prices: by label, for a million tokens.

    Returns:
        Columns calls, tokens_in, tokens_out, money, money_at_most (nan without a price; the sum is of what is known).

    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> prompts = [CAN_YOU_ANSWER.prompt("Who wrote Emma?")] * 100
    >>> asked = Ask("m", ProviderModel("m", "openai"), prompts, CAN_YOU_ANSWER)
    >>> expected_costs([asked], {"m": Price(input=0.25, output=2.0)})["money"].round(4).tolist()  # and the sum
    [0.0015, 0.0015]
    """
    rows = []
    for ask in asks:
        n, tokens_in, (usual, most) = len(ask.prompts), sum(map(tokens_of, ask.shown)), ask.tokens
        price = prices.get(ask.label or ask.who)
        money = [float("nan") if price is None else price.of(tokens_in, n * written) for written in (usual, most)]
        rows.append((ask.who, ask.instrument.name, n, tokens_in, n * usual, *money))
    groups = pd.DataFrame(rows, columns=_COLUMNS).groupby(_COLUMNS[:2], sort=False)
    table = with_sum(groups.sum(min_count=1))
    return table.assign(**{name: table[name].astype(float).fillna(0).astype(int) for name in _COLUMNS[2:5]})
