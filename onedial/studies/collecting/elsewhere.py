"""Models of providers and servers: what they need, what they would cost, and all of them asked at once."""

from collections.abc import Sequence
from pathlib import Path

from onedial.asking.providers.costs import WRITTEN, expected_costs
from onedial.asking.providers.providers import ProviderRespondent
from onedial.asking.store import BudgetSpent, Store
from onedial.core.errors import InputError
from onedial.core.notices import leave_undone
from onedial.core.run.run import Run
from onedial.panels.collecting.collection import Collection
from onedial.panels.collecting.judging import JUDGE
from onedial.panels.collecting.respondent_files import RespondentModel
from onedial.show.progress import progress_bar
from onedial.studies.options.collecting import CollectOptions


def check_what_is_asked_elsewhere(
    models: list[RespondentModel], judge: RespondentModel | None, options: CollectOptions
) -> None:
    """Before anything is asked: libraries, keys, the judge, and prices where there is a budget.

    Raises:
        InputError: one of them is missing.
    """
    elsewhere = [(model, model.provider) for model in models if model.provider is not None]
    for model, provider in elsewhere:
        if options.budget is not None and model.price is None:
            raise InputError(f"--budget needs the price of {model.label}; give it in {options.respondents}")
        if not options.dry_run:
            ProviderRespondent(provider)
    if options.judge is not None:
        if judge is None or judge.provider is None:
            raise InputError(f"--judge needs a model under the key `judge` of {options.respondents}")
        if options.budget is not None and judge.price is None:
            raise InputError(f"--budget needs the price of the judge {judge.label}; give it in {options.respondents}")
        if not options.dry_run:
            ProviderRespondent(judge.provider)
    if options.budget is not None and not elsewhere and options.judge is None:
        raise InputError(f"--budget was given, but {options.respondents} names no model that costs money")


def keep_judge(collection: Collection, run: Run, options: CollectOptions) -> None:
    """Put the judge into the manifest: whoever has judged some of the answers judges the others.

    Raises:
        InputError: it is another one than before.
    """
    if options.judge is not None and collection.judge is not None and collection.judge.provider is not None:
        asked = collection.judge.provider.what_is_asked.replace("\x1f", " ").strip()
        run.record_once("judge", {"model": asked}, f"restore it, or choose another --out with --merge {run.path}")


def show_costs(collection: Collection, options: CollectOptions, sample: int) -> None:
    """Print what is still to be asked of whom, in calls, tokens and money; nothing is written.

    Args:
        sample: how many closed-book answers `--judge sample` puts before the judge.
    """
    calls = []
    for each in collection.missing():
        kind = "closed book" if each.instrument.name == "closed book" else each.entry.instrument
        settings = each.entry.provider
        calls.append(
            {
                "respondent": each.respondent,
                "instrument": each.instrument.name,
                "prompts": [each.instrument.prompt(question.rendered) for question in each.questions],
                "written": WRITTEN[kind],
                "room": 0 if settings is None else settings.room(kind),
                "price": each.entry.price,
            }
        )
    judge = collection.judge
    if options.judge is not None and judge is not None and judge.provider is not None:
        prompts = collection.judge_prompts(sample if options.judge == "sample" else None)
        room = judge.provider.room("direct")
        about = {"respondent": judge.respondent_for(JUDGE), "instrument": JUDGE.name, "price": judge.price}
        calls.append(about | {"prompts": prompts, "written": WRITTEN["direct"], "room": room})
    print(expected_costs(calls).groupby(level=[0, 1], sort=False).sum(min_count=1).round(4).to_string())
    print("tokens are estimated, at four characters each; money is in the currency of the file's prices")
    if any(model.provider is not None and model.provider.reasoning_effort for model in collection.models):
        print("what a model thinks to itself comes on top: money_at_most counts all that it may write")


def ask_elsewhere(collection: Collection) -> bool:
    """Ask all models of providers and servers at once; True where the budget ended it."""
    pending = collection.missing([model for model in collection.models if model.provider is not None])
    if not pending:
        return False
    n = sum(len(each.questions) for each in pending)
    try:
        with progress_bar(n, "providers") as advance:
            collection.ask(pending, advance)
    except BudgetSpent as spent:
        left = sum(len(each.questions) for each in collection.missing())
        leave_undone(f"{left} questions are not asked: {spent}")
        return True
    return False


def store_of(
    file: Path, models: Sequence[RespondentModel], judge: RespondentModel | None, budget: float | None
) -> Store:
    """The answers of a collection, with its prices and its budget."""
    prices = {model.label: model.price for model in models if model.provider is not None}
    if judge is not None:
        prices[judge.respondent_for(JUDGE)] = judge.price
    return Store(file, prices, budget)
