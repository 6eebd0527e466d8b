"""vLLM's side of `--engine vllm` as a few lines of plain forwards, and its faults: what a proof is to catch."""

import torch

from onedial.models.model import OpenModel

CHUNK = 64
FAULTS = ("first token only", "kept prefix", "one row unsteered", "wrong layer", "3% too small", "place in its chunk")


class FakeVllm:
    """Answers as `serve.Writer` does, without a cache: each token by a forward over the whole text so far.

    Args:
        fault: one of `FAULTS`; "" for none.
    """

    def __init__(self, model: OpenModel, fault: str = "", max_tokens: int = 256) -> None:
        self._model, self._fault, self._max_tokens = model, fault, max_tokens
        self._open, self._directions, self._begun, self._known = [], [], {}, {}
        self.asked = []

    def __call__(self, method, arguments):
        return getattr(self, method)(**arguments)

    def facts(self):
        return {"version": "fake", "max_tokens": self._max_tokens, "tokens_per_forward": CHUNK}

    def steer_with(self, directions):
        self._directions, self._known = [torch.tensor(each) for each in directions], {}

    def put(self, requests):
        self._open += [dict(each, ids=[]) for each in requests]
        self.asked += requests

    def drop(self, names):
        self._open = [each for each in self._open if each["name"] not in names]

    def close(self):
        self._open = []

    def step(self):
        """Three more tokens of each."""
        outputs = []
        for number, each in enumerate(list(self._open)):
            new, scores, settings = [], [], each["settings"]
            while len(new) < 3 and not self._ended(each):
                log_p = self._log_p(each, number)
                token = self._token(log_p, settings, len(each["ids"]))
                top = log_p.topk(settings.get("logprobs", 0)).indices.tolist()
                wanted = [*(settings.get("logprob_token_ids") or top), token]
                each["ids"].append(token)
                new.append(token)
                scores.append({str(one): float(log_p[one]) for one in wanted} if "logprobs" in settings else {})
            outputs.append((each["name"], new, scores, self._ended(each)))
        self._open = [each for each in self._open if not self._ended(each)]
        return outputs

    def _token(self, log_p, settings, place):
        if not settings["temperature"]:
            return int(log_p.argmax())
        drawn = torch.Generator().manual_seed(settings["seed"] + 1000 * place)
        return int(torch.multinomial((log_p / settings["temperature"]).softmax(-1), 1, generator=drawn))

    def _ended(self, each):
        ids, settings = each["ids"], each["settings"]
        return len(ids) == settings["max_tokens"] or bool(ids and ids[-1] in settings.get("stop_token_ids", ()))

    @torch.inference_mode()
    def _log_p(self, each, number):
        prompt = tuple(each["token_ids"])
        pushes = [(each["push"], 0, 1 << 30)]
        if self._fault == "kept prefix":  # what another push did to the first tokens stays
            before = self._begun.setdefault(prompt, each["push"])
            pushes = [(before, 0, 16), (each["push"], 16, 1 << 30)]
        if self._fault == "one row unsteered" and number == 1:
            pushes = []
        key = repr((prompt, each["ids"], pushes))
        if key not in self._known:
            self._known[key] = self._forward(prompt, each["ids"], pushes)
        return self._known[key]

    def _forward(self, prompt, written, pushes):
        hooks = []
        try:
            for push, start, until in pushes:
                hooks += self._hooks(push, start, until, len(prompt), len(prompt) + len(written))
            ids = torch.tensor([[*prompt, *written]])
            return self._model.hf(input_ids=ids, use_cache=False).logits[0, -1].float().log_softmax(dim=-1)
        finally:
            for hook in hooks:
                hook.remove()

    def _hooks(self, push, start, until, n_prompt, n):
        if push is None:
            return []
        begin, end, edits = push
        places = torch.arange(n)
        if self._fault == "place in its chunk":
            places = torch.where(places < n_prompt, places % CHUNK, places)
        chosen = (begin <= places) & (places < end) & (torch.arange(n) >= start) & (torch.arange(n) < until)
        if self._fault == "first token only":
            chosen &= places < n_prompt
        return [
            self._model.stack.layers[layer - (self._fault == "wrong layer")].register_forward_hook(
                self._pushing(self._directions[direction], along, share, chosen)
            )
            for layer, direction, along, share in edits
        ]

    def _pushing(self, direction, along, share, chosen):
        times = 0.97 if self._fault == "3% too small" else 1.0

        def push(module, inputs, output):
            stream = output[0] if isinstance(output, tuple) else output
            moved = stream + times * ((along + share * (stream @ direction))[..., None] * direction)
            moved = torch.where(chosen[:, None], moved, stream)
            return (moved, *output[1:]) if isinstance(output, tuple) else moved

        return push
