"""What models of providers cost where one test is asked after another: prices, and what is told at the end."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.studies.options.shared import AskedModels

if TYPE_CHECKING:
    import pandas as pd

    from onedial.asking.providers.costs import Price
    from onedial.asking.store import Store


def bill_of(options: AskedModels, models: Sequence[str], elsewhere: Sequence[str]) -> "Store":
    """The store of answers, with `--budget` and `--prices`.

    Args:
        models: all names of `--model`. elsewhere: those of providers and servers.

    Raises:
        InputError: a price that cannot be read or is of no such model, or a budget without a price or without anybody
            who costs money.
    """
    from onedial.asking.store import Store

    prices = prices_of(options.prices) if options.prices else {}
    for name in prices:
        if name not in elsewhere:
            raise InputError(f"--prices names {name!r}, which is none of the providers' models of --model; check it")
    if options.budget is not None:
        if not elsewhere:
            raise InputError(f"--budget was given, but --model {','.join(models)} names no model that costs money")
        if missing := [name for name in elsewhere if name not in prices]:
            raise InputError(f"--budget needs the price of {missing[0]}; give it as --prices {missing[0]}=IN/OUT")
    return Store(prices=prices, limit=options.budget)


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
