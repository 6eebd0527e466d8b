"""Shape annotations are checked while the tests run: a tensor of another shape than its signature says fails."""

from jaxtyping import install_import_hook

install_import_hook(["open_models", "probes", "steering"], "beartype.beartype")
