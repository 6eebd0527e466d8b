"""A tiny model's folder with a vector of it, for whoever serves it."""

import pytest
from tiny_models import save_tiny, vectors_at

from onedial.models.model import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holds model/ and vector.safetensors."""
    folder = tmp_path_factory.mktemp("served")
    save_tiny(folder / "model", "llama")
    (vector,) = vectors_at(load_model(str(folder / "model")), [2])
    vector.save(folder / "vector.safetensors")
    return folder
