"""CUDA devices that are not there: real numbers on the CPU that say they lie on a GPU, and refuse to be mixed.

    with pretended_devices() as counts:
        model = OpenModel(on_device(tiny_hf("llama"), "cuda:0"), ...)
        ...
    counts.waits, counts.to_device, counts.to_host, counts.across

An operation on numbers of two devices raises, as on a real machine, unless one of them is a single number of the CPU.
Counted are the waits for the device (`item`, `nonzero`, a mask as an index, a list as an index, a copy to the host) and
the copies: to the device, to the host, and from one device to another.
"""

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

CPU = torch.device("cpu")
WAITING = ("_local_scalar_dense", "item", "is_nonzero", "nonzero", "masked_select", "_unique2", "unique_dim", "equal")
OURS = ("/onedial/", "/steering/", "/probes/")
PLENTY = 80 * 2**30


class Counts(Counter):
    """What was counted so far by kind; `places` says from which line of this project, "" where none is on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.places: Counter = Counter()

    waits = property(lambda self: self["waits"])
    to_device = property(lambda self: self["to_device"])
    to_host = property(lambda self: self["to_host"])
    across = property(lambda self: self["across"])

    def note(self, kind: str) -> None:
        self[kind] += 1
        frame: FrameType | None = sys._getframe()
        while frame is not None and not any(room in frame.f_code.co_filename for room in OURS):
            frame = frame.f_back
        line = f"{frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.f_lineno}" if frame else ""
        self.places[kind, line] += 1

    def forget(self) -> None:
        self.clear()
        self.places.clear()


class Pretended(torch.Tensor):
    """A tensor that says it lies on a device, with its numbers on the CPU."""

    @staticmethod
    def __new__(cls, on_host: torch.Tensor, place: torch.device) -> "Pretended":
        with torch.inference_mode(False):
            made = torch.Tensor._make_wrapper_subclass(
                cls,
                on_host.shape,
                strides=on_host.stride(),
                storage_offset=on_host.storage_offset(),
                dtype=on_host.dtype,
                device="meta",
            )
        made.own, made.place = on_host, place
        return made

    @property
    def device(self) -> torch.device:
        return self.place

    def __repr__(self) -> str:
        return f"Pretended({self.own!r}, {self.place})"

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError(f"{func} on a pretended device outside of pretended_devices()")


def place_of(tensor: torch.Tensor) -> torch.device:
    return tensor.place if isinstance(tensor, Pretended) else CPU


class _Operations(TorchDispatchMode):
    """Computes on the CPU and keeps count."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self.counts = counts

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
        here = next((each.place for each in tensors if isinstance(each, Pretended)), CPU)
        name = func.overloadpacket.__name__
        to_host = name == "_to_copy" and str(kwargs.get("device")) == "cpu" and here != CPU
        if kwargs.get("device") is not None:
            kwargs["device"] = CPU
        if name == "copy_" and place_of(args[0]) != place_of(args[1]):
            self._copied(place_of(args[1]), place_of(args[0]))
        elif name != "copy_":
            places = {place_of(each) for each in tensors if each.dim() or isinstance(each, Pretended)}
            if name.startswith("index") and here != CPU:
                picked = [each for each in args[1] if each is not None] if isinstance(args[1], (list, tuple)) else []
                if any(each.dtype in (torch.bool, torch.uint8) for each in picked):
                    self.counts.note("waits")
                if any(place_of(each) == CPU for each in picked):  # as CUDA does, which waits for it
                    self._copied(CPU, here)
                    places.discard(CPU)
            if len(places) > 1:
                raise RuntimeError(f"{name} got numbers of {sorted(map(str, places))}")
            if name in WAITING and here != CPU:
                self.counts.note("waits")
            if to_host:
                self._copied(here, CPU)
        args, kwargs = tree_map(lambda each: each.own if isinstance(each, Pretended) else each, (args, kwargs))
        given = args[0] if args else None
        result = func(*args, **kwargs)
        if result is given and func._schema.is_mutable:
            return next(each for each in tensors if each is given or getattr(each, "own", None) is given)
        if here == CPU or to_host:
            return result
        return tree_map(lambda each: Pretended(each, here) if isinstance(each, torch.Tensor) else each, result)

    def _copied(self, source: torch.device, target: torch.device) -> None:
        self.counts.note("to_host" if target == CPU else "to_device" if source == CPU else "across")
        if CPU in (source, target):
            self.counts.note("waits")


class _Calls(TorchFunctionMode):
    """Takes out of calls the devices that are not there, and puts what they give onto them."""

    def __init__(self, operations: _Operations) -> None:
        super().__init__()
        self.operations = operations

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.device.__get__:
            return place_of(args[0])
        if func in (torch.Tensor.to, torch.Tensor.cpu):
            return self._moved(func, args, kwargs)
        if func is torch.Tensor.tolist and isinstance(args[0], Pretended):
            self.operations._copied(args[0].place, CPU)
            return args[0].own.tolist()
        if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__):  # lists would be made on the device meta
            asked = args[1] if isinstance(args[1], tuple) else (args[1],)
            asked = tuple(torch.tensor(each) if isinstance(each, list) else each for each in asked)
            args = (args[0], asked, *args[2:])
        wanted = kwargs.get("device")
        if wanted is not None and torch.device(wanted).type == "cuda":
            kwargs["device"] = CPU
            result = func(*args, **kwargs)
            if func is torch.tensor and result.numel():  # made on the host from Python's numbers
                self.operations.counts.note("to_device")
            return Pretended(result, _whole(wanted))
        return func(*args, **kwargs)

    def _moved(self, func, args, kwargs):
        tensor, rest = args[0], list(args[1:])
        target = kwargs.pop("device", None) or (CPU if func is torch.Tensor.cpu else None)
        for place, each in enumerate(rest):
            if isinstance(each, (str, torch.device)):
                target = rest.pop(place)
                break
            if isinstance(each, torch.Tensor):
                target, kwargs["dtype"] = place_of(each), each.dtype
                rest.pop(place)
                break
        target = place_of(tensor) if target is None else _whole(target)
        if target == place_of(tensor):
            return tensor.to(*rest, **kwargs) if rest or kwargs else tensor
        self.operations._copied(place_of(tensor), target)
        on_host = tensor.own if isinstance(tensor, Pretended) else tensor
        kwargs.pop("non_blocking", None)
        on_host = on_host.to(*rest, **{**kwargs, "copy": True})
        return on_host if target == CPU else Pretended(on_host, target)


def _whole(device: object) -> torch.device:
    result = torch.device(device)
    return torch.device("cuda", result.index or 0) if result.type == "cuda" else result


@contextlib.contextmanager
def pretended_devices() -> Iterator[Counts]:
    """While the context lasts, `cuda:0`, `cuda:1` and so on can be computed on."""
    counts = Counts()
    operations = _Operations(counts)
    with (
        mock.patch("torch.cuda.mem_get_info", return_value=(PLENTY, PLENTY)),
        mock.patch("torch.cuda.memory_reserved", return_value=0),
        mock.patch("torch.cuda.memory_allocated", return_value=0),
        mock.patch("torch.cuda.get_rng_state", return_value=torch.empty(0)),
        mock.patch("torch.cuda.set_rng_state"),
        operations,
        _Calls(operations),
    ):
        yield counts


def on_device(module: torch.nn.Module, device: str) -> torch.nn.Module:
    """A module with its weights and buffers on a pretended device."""
    place, moved = _whole(device), {}
    for part in module.modules():
        for name, weight in part._parameters.items():
            if weight is not None:
                if id(weight) not in moved:
                    moved[id(weight)] = torch.nn.Parameter(Pretended(weight.data, place), requires_grad=False)
                part._parameters[name] = moved[id(weight)]
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = Pretended(buffer, place)
    return module


def over_cards(hf: torch.nn.Module, n: int) -> torch.nn.Module:
    """A model of Llama's form, its layers on so many devices; as with accelerate, each part moves what it is given."""

    def place(part: torch.nn.Module, card: int) -> None:
        def moved(_, args, kwargs):
            def move(each):
                return each.to(f"cuda:{card}") if isinstance(each, torch.Tensor) else each

            return tree_map(move, (args, kwargs))

        on_device(part, f"cuda:{card}").register_forward_pre_hook(moved, with_kwargs=True)

    decoder, layers = hf.model, hf.model.layers
    for part, card in ((decoder.embed_tokens, 0), (decoder.rotary_emb, 0), (decoder.norm, n - 1), (hf.lm_head, n - 1)):
        place(part, card)
    for number, layer in enumerate(layers):
        place(layer, number * n // len(layers))
    return hf
