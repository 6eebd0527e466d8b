"""The layer that a run takes for its own: chosen once, on the fitting split, and read from its file ever after."""

from collections.abc import Sequence

from onedial.core.progress import progress_bar
from onedial.core.run.run import Run
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention
from steering.planning.layers import scan_layers


def own_layer(run: Run, model: OpenModel, fitting: PromptSet, candidates: Sequence[Intervention]) -> int:
    """Of candidates at one layer each, where the smallest push turns the questions both ways; layer.json."""
    if not run.has("layer.json"):
        with progress_bar(len(fitting), f"scanning {len(candidates)} layer(s)") as advance:
            scan = scan_layers(model, fitting, candidates, advance)
        run.write_table("layer_scan.csv", scan.table)
        run.write_json("layer.json", {"layer": scan.layer, "spans": scan.spans})
    return int(run.read_json("layer.json")["layer"])
