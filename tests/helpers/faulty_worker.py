"""vLLM's worker with a fault, chosen while it runs by the file that FAULT_FILE names; for `test_vllm.py`."""

import os
from pathlib import Path
from typing import Any

from worker import Pushes, SteeringWorker


class FaultyWorker(SteeringWorker):
    def steer_with(self, directions: list[list[float]], n_layers: int) -> int:
        runner: Any = self.model_runner
        if not hasattr(runner, "steered_by"):
            runner.steered_by = FaultyPushes(runner, n_layers)
        return super().steer_with(directions, n_layers)


class FaultyPushes(Pushes):
    def spans(self):
        fault, runner, batch = Path(os.environ["FAULT_FILE"]).read_text(), self._runner, self._runner.input_batch
        kept = batch.num_computed_tokens_cpu
        if fault == "place in its chunk":
            n_prompt = [runner.requests[name].num_prompt_tokens for name in batch.req_ids]
            batch.num_computed_tokens_cpu = kept.copy()
            batch.num_computed_tokens_cpu[: len(n_prompt)][kept[: len(n_prompt)] < n_prompt] = 0
        result = super().spans()
        batch.num_computed_tokens_cpu = kept
        ends = runner.query_start_loc.np
        left_out = []
        for row, name in enumerate(batch.req_ids):
            is_written = kept[row] >= runner.requests[name].num_prompt_tokens
            if (fault == "first token only" and is_written) or (
                fault == "one row unsteered" and int(name.partition("-")[0]) % 5 == 0
            ):
                left_out.append(range(ends[row], ends[row + 1]))
        return {
            layer - (fault == "wrong layer"): [
                (first, last, direction, along * (0.97 if fault == "3% too small" else 1.0), share)
                for first, last, direction, along, share in spans
                if not any(first in kind for kind in left_out)
            ]
            for layer, spans in result.items()
            if any(not any(span[0] in kind for kind in left_out) for span in spans)
        }
