"""Tell what asking costs, beforehand and at the end, by prices and within a budget."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.studies.options.shared import AskedModels

if TYPE_CHECKING:
    import pandas as pd

    from onedial.asking.asks import Ask
    from onedial.asking.providers.costs import Price
    from onedial.asking.store import Store


def bill_of(options: AskedModels, elsewhere: Sequence[str]) -> "Store":
    """The store of answers, with `--budget` and `--prices`.

    Args:
        elsewhere: the models of `--model` that providers and servers run.

    Raises:
        InputError: a price that cannot be read or is of no such model; or as `priced_store`.
    """
    prices = prices_of(options.prices) if options.prices else {}
    for name in prices:
        if name not in elsewhere:
            raise InputError(f"--prices names {name!r}, which is none of the providers' models of --model; check it")
    return priced_store({name: prices.get(name) for name in elsewhere}, options.budget, "as --prices MODEL=IN/OUT")


def priced_store(prices: "Mapping[str, Price | None]", budget: float | None, where: str) -> "Store":
    """A store of answers that asks nothing beyond a budget.

    Args:
        prices: of everybody who costs money. where: they are given.

    Raises:
        InputError: a budget without a price, or without anybody who costs money.
    """
    from onedial.asking.store import Store

    if budget is not None:
        if not prices:
            raise InputError("--budget was given, but nobody of those asked costs money; leave it out")
        if missing := [name for name, price in prices.items() if price is None]:
            raise InputError(f"--budget needs the price of {missing[0]}; give it {where}")
    return Store(prices=prices, limit=budget)


def prices_of(text: str) -> "dict[str, Price]":
    """`MODEL=IN/OUT,...` as prices by model.

    >>> prices_of("openai:a=0.4/1.6")["openai:a"].output
    1.6

    Raises:
        InputError: it is written otherwise, or a price is below 0.
    """
    from onedial.asking.providers.costs import Price

    prices = {}
    for piece in text.split(","):
        name, _, both = piece.strip().rpartition("=")
        try:
            price = Price(*map(float, both.split("/")))
        except (TypeError, ValueError):
            price = Price(-1, -1)
        if not name or not 0 <= price.input < float("inf") or not 0 <= price.output < float("inf"):
            raise InputError(f"--prices {piece.strip()!r} is no price; write MODEL=IN/OUT, such as openai:m=0.4/1.6")
        prices[name] = price
    return prices


def tell_what_is_asked(asks: "Iterable[Ask]", prices: "Mapping[str, Price | None]") -> None:
    """Print how many prompts each respondent gets by which instrument, their tokens, and what they cost where prices
    are known: what any `--dry-run` says of asking.
    """
    from onedial.asking.asks import expected_costs
    from onedial.asking.providers.provider_settings import ProviderModel

    every = list(asks)
    print(expected_costs(every, prices).round(4).to_string())
    print("tokens are estimated, at four characters each; money is in the currency of the prices")
    if any(isinstance(ask.respondent, ProviderModel) and ask.respondent.reasons for ask in every):
        print("what a model thinks to itself comes on top: money_at_most counts all that it may write")


def tell_costs(costs: "pd.DataFrame | None", run: Run) -> None:
    """Print what was asked of providers and what it cost, and write costs.csv; nothing where nobody was asked.

    A respondent of whom no request was ever answered is work left undone (exit code 2).
    """
    if costs is None:
        return
    from onedial.core.notices import leave_undone
    from onedial.core.run.files import write_table

    print(f"\nwhat it did cost, failed requests and all starts included:\n{costs.round(4).to_string()}")
    if unknown := int(costs["unknown"].iloc[-1]):
        print(
            f"of {unknown} requests nobody knows what they did cost (timed out, interrupted, failed at the server, "
            "or counted absurdly): they count as what they may have cost at most"
        )
    asked = costs.iloc[:-1].drop("probe", level=1, errors="ignore")
    counts = asked.groupby(level=0, sort=False)[["calls", "failed"]].sum()
    for name, n in counts.loc[counts["calls"] == counts["failed"], "calls"].items():
        leave_undone(f"{name}: none of {n:.0f} requests was answered; --resume asks again")
    table = costs.rename_axis(["respondent", "instrument"]).reset_index()
    write_table(run.file("costs.csv"), table, float_format="%.6g")
