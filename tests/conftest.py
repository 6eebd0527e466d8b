"""Shape annotations are checked while the tests run: a tensor of another shape than its signature says fails."""

import gc

from jaxtyping import install_import_hook

install_import_hook(["open_models", "probes", "steering"], "beartype.beartype")


def pytest_collection_modifyitems(items):
    """The longest test begins first, so that no core waits for it at the end."""
    items.sort(key=lambda item: "test_all_recipes_can_be_followed" not in item.nodeid)


def pytest_collection_finish():
    """What the libraries have brought along lives to the end: the collector need not look through it again."""
    gc.collect()
    gc.freeze()
