"""Serve a model at every setting of a dial, behind OpenAI's protocol.

    onedial serve --run runs/mine                # the sweep's model, vector, positions and unit
    onedial serve --model NAME --vector vector.safetensors --positions all
    onedial serve --run runs/mine --engine vllm  # many clients side by side

A request names the setting with the model: NAME@0.2 is steered by 0.2, NAME is not. Only this machine can ask, unless
--host says otherwise; where the variable ONEDIAL_KEY holds a key, each request must bear it.
"""

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import option
from onedial.core.pulse import at_work, say
from onedial.core.run.notes import Notes, program
from onedial.studies.options.shared import EngineOptions

SECONDS_TO_END = 5
"""After Ctrl-C, for those who wait for an answer."""


@dataclass(frozen=True, kw_only=True)
class ServeOptions(EngineOptions, group="serve"):
    """What is served, and where."""

    model: str | None = option(None, "name, folder or hub id (with --run, the sweep's)")
    vector: Path | None = option(None, "a steering vector's file", metavar="FILE", excludes=("run",))
    run: Path | None = option(None, "a finished sweep's folder", metavar="DIR")
    positions: str | None = option(
        None, "where the vector acts instead", choices=("answer", "last", "prompt", "all", "generated")
    )
    dtype: str = option("auto", "of the weights", choices=("auto", "float32", "bfloat16", "float16"))
    device: str | None = option(None, "cpu, cuda, cuda:1, ... (what there is)")
    host: str = option("127.0.0.1", "address to listen on")
    port: int = option(8000, "to listen on", at_least=1, at_most=65535)

    def check(self) -> None:
        """There must be a model."""
        super().check()
        if self.model is None and self.run is None:
            raise InputError("no model was named; give --model, or --run with a finished sweep")


def serve(options: ServeOptions, _: Notes) -> None:
    with at_work("importing PyTorch and transformers"):
        try:
            import uvicorn

            from onedial.serving.openai_server import server_of
        except ImportError as error:
            raise InputError(f"{error.name} is not installed; run `pip install 'onedial[serve]'`") from None
        from onedial.models.threads import quiet_libraries
        from onedial.serving.dial import load_dial
        from onedial.studies.start import engine_of
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listening = socket.create_server((options.host, options.port), family=family)
    except OSError as error:
        raise InputError(
            f"nothing can listen on {options.host}:{options.port} ({error.strerror}); choose another --port or --host"
        ) from error
    engine = engine_of(options)
    quiet_libraries()
    dial = load_dial(
        options.model,
        vector=options.vector,
        run=options.run,
        positions=options.positions,
        dtype=options.dtype,
        device=options.device,
    )
    name = f"{dial.name}@0.2" if dial.intervention else dial.name
    where = f" (positions: {dial.intervention.positions})" if dial.intervention else ""
    with engine(dial.model):
        app = server_of(dial, os.environ.get("ONEDIAL_KEY") or None)
        say(f"http://{options.host}:{options.port}/v1 answers as {name!r}{where}; Ctrl-C ends")
        uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=SECONDS_TO_END)).run(
            sockets=[listening]
        )


main = program(ServeOptions, serve, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
