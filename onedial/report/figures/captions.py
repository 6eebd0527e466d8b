"""What each figure is called, and what a reader should look at in it (captions.yaml)."""

from pathlib import Path

import yaml

_WORDS = yaml.safe_load(Path(__file__).with_name("captions.yaml").read_text(encoding="utf-8"))
TITLES: dict[str, str] = {name: words["title"] for name, words in _WORDS.items() if "title" in words}
CAPTIONS: dict[str, str] = {name: words["caption"] for name, words in _WORDS.items()}
