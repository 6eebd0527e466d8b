"""An architecture: a line, if the names in its decoder differ from Llama's.

When a model is loaded, a forward pass proves the line, and the model is refused if it is wrong. What each type of
transformers does today: `python scripts/architectures.py types.csv`.

    python experiments/doctor.py --plugin my_family.py
"""

from onedial.models import FAMILIES, Family

FAMILIES["my_type"] = Family(norm="final_norm", attn=("mixer",))
