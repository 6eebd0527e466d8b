"""The help of the programs that are named, as one JSON object."""

import contextlib
import io
import json
import runpy
import sys

texts = {}
for program in sys.argv[1:]:
    sys.argv = [program, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.suppress(SystemExit):
        runpy.run_path(program, run_name="__main__")
    texts[program] = output.getvalue()
print(json.dumps(texts))
