"""vLLM's side of `--engine vllm`: a model that writes, steered request by request.

Used in this process where vLLM is installed beside onedial. Else it is run as a program by the Python that has vLLM,
and is called line by line: one JSON list [method, arguments] a line in, [true, what it gave] or [false, what went
wrong] out. Needs vLLM alone; nothing of onedial is imported.
"""

import json
import os
import sys
import time
from typing import Any

ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "2",  # GiB; else vLLM takes nearly all that is free
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # as many threads as the system's other models have, on whichever cores
}
"""Where the user's own environment says nothing else."""
STEP_SECONDS = 0.05
"""Steps are taken for so long before anybody is told of them: what a text that is done is written on for."""


class Writer:
    """A model in vLLM.

    Args:
        model: its folder, or hub id. options: of vLLM's `EngineArgs`, beside what is set here.
    """

    def __init__(self, model: str, n_layers: int, options: dict[str, Any]) -> None:
        os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "0"  # the worker reads the first runner's batches
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        from vllm import LLM, __version__

        worker = ".".join(filter(None, [__package__, "worker", "SteeringWorker"]))
        settings = {
            "skip_tokenizer_init": True,  # token ids go in and come out
            "enforce_eager": True,  # compiled layers would leave the hooks out
            "max_model_len": -1,  # what memory holds, the model's own at most
            "enable_prefix_caching": True,
            "generation_config": "vllm",  # as of transformers here: none of the checkpoint's own settings
            "disable_log_stats": True,
            "worker_extension_cls": worker,
        }
        self.llm = LLM(model=model, **{**settings, **options})
        self.engine, self._n_layers = self.llm.llm_engine, n_layers
        self.version = __version__
        self.steer_with([])  # the hooks are there from the first forward

    def facts(self) -> dict[str, Any]:
        """Version of vLLM; the most tokens of a prompt with its text, and of one forward."""
        config = self.engine.vllm_config
        return {
            "version": self.version,
            "max_tokens": config.model_config.max_model_len,
            "tokens_per_forward": config.scheduler_config.max_num_batched_tokens,
        }

    def steer_with(self, directions: list[list[float]]) -> list[int]:
        """See `worker.SteeringWorker.steer_with`; gives the number of layers of each worker."""
        return self.llm.collective_rpc("steer_with", args=(directions, self._n_layers))

    def put(self, requests: list[dict[str, Any]]) -> None:
        """Take requests in: name, token_ids, salt, push, and settings of vLLM's `SamplingParams`."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        for each in requests:
            settings = SamplingParams(
                **each["settings"],
                ignore_eos=True,  # the ends are given
                detokenize=False,
                output_kind=RequestOutputKind.DELTA,
                extra_args={"push": each["push"]} if each["push"] else None,
            )
            prompt = {"prompt_token_ids": each["token_ids"], "cache_salt": each["salt"]}
            self.engine.add_request(each["name"], prompt, settings)

    def step(self) -> list[tuple[str, list[int], list[dict[str, float]], bool]]:
        """Write on for a moment: the new tokens of each request that has any, what was asked of their log
        probabilities, and whether it has ended."""
        until, outputs = time.monotonic() + STEP_SECONDS, []
        while self.engine.has_unfinished_requests():
            for output in self.engine.step():
                (written,) = output.outputs
                scores = [{str(t): p.logprob for t, p in place.items()} for place in written.logprobs or ()]
                outputs.append((output.request_id, list(written.token_ids), scores, output.finished))
            if time.monotonic() > until:
                break
        return outputs

    def drop(self, names: list[str]) -> None:
        """Write no further to these."""
        self.engine.abort_request(names)

    def close(self) -> None:
        """End vLLM and give its memory back."""
        self.engine.engine_core.shutdown()


def serve() -> None:
    """Answer calls until the input ends. What vLLM prints goes to the errors' stream."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    writer: Any = None
    for line in sys.stdin:
        method, arguments = json.loads(line)
        try:
            if method == "start":
                writer, gave = Writer(**arguments), None
            else:
                gave = getattr(writer, method)(**arguments)
            reply = [True, gave]
        except Exception as error:  # vLLM raises of many kinds; whoever asked says which
            reply = [False, f"{type(error).__name__}: {error}"]
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    serve()
