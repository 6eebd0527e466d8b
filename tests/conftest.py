"""Shape annotations are checked while the tests run: a tensor of another shape than its signature says fails."""

import gc
import os
import re
import subprocess
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # else workers wait for each other, and forks for ever

import jaxtyping
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are shared
settings.load_profile("busy")

os.fsync = lambda descriptor: None  # no power is lost here; those who test what is sure then put their own in its place

decorate = jaxtyping.jaxtyped


def check_shapes(*, typechecker):
    """Only where there is a shape, and once: a function inside another would be compiled anew at each call of that."""

    def checked(made):
        shaped = "jaxtyping" in str(getattr(made, "__annotations__", ""))
        return decorate(made, typechecker=typechecker) if shaped and "<locals>" not in made.__qualname__ else made

    return checked


jaxtyping.jaxtyped = check_shapes
jaxtyping.install_import_hook(["onedial.models", "probes", "steering"], "beartype.beartype")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With CI=true a skipped test has failed, unless this machine forbids what it "needs ...": nobody reads skips."""
    report = yield
    if os.environ.get("CI") == "true" and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith("needs "):
            report.outcome, report.longrepr = "failed", f"skipped, which on CI is a failure: {reason}"
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One more than there are cores, since some tests wait for servers and for programs that were started."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="module")
def model():
    """A tiny model whose answers can be read; a module that needs another one has a fixture of its own."""
    from tiny_models import outspoken_model

    return outspoken_model()


@pytest.fixture(scope="module")
def prompts(model, request):
    """The module's QUESTIONS as that model reads them."""
    from onedial.asking.prompts import METACOGNITIVE
    from onedial.models.prompt_set import PromptSet

    return PromptSet.build(model, request.module.QUESTIONS, METACOGNITIVE)


@pytest.fixture
def call(capsys):
    """Runs a program in this process: `call(STEER_SWEEP, "--model", folder, ...)`."""
    from tiny_experiment import Ended, run_here

    def run(program, *arguments, drawn=False):
        capsys.readouterr()
        code = run_here(program, *arguments, drawn=drawn)
        return Ended(code, *capsys.readouterr())

    return run


@pytest.fixture
def undrawn(monkeypatch):
    """Figures are blank, for a test that does not look at them."""
    from blank import draw_nothing

    draw_nothing(monkeypatch.setattr)


@pytest.fixture
def unreported(monkeypatch):
    """Pages of sweeps are empty, for a test that reads the tables alone."""
    from blank import report_nothing

    report_nothing(monkeypatch.setattr)


LONGEST = ("test_recipes.py", "test_gpu_acceptance.py", "test_simulate.py")


def pytest_addoption(parser):
    """See `is_sampled`."""
    parser.addoption("--sample", type=int, metavar="N", help="of the files of `make long` one in N, another each day")


def is_sampled(items, n):
    """For each test whether it is one of `make test`, in a room that the last commit changed, or in a file of today."""
    changed = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1"], capture_output=True, text=True, check=False
    ).stdout
    rooms = set(re.findall(r"^(?:onedial/|tests/)?(\w+)/", changed, re.MULTILINE))
    rooms = rooms if len(rooms) <= 4 else set()  # what changes everything is for `make long`
    far = [any(map(item.get_closest_marker, ("long", "launched"))) for item in items]
    files = sorted({item.path.name for item, is_far in zip(items, far, strict=True) if is_far})
    today = files[int(time.strftime("%j")) % n :: n]
    return [
        not is_far or item.path.parent.name in rooms or item.path.name in today
        for item, is_far in zip(items, far, strict=True)
    ]


def pytest_collection_modifyitems(config, items):
    """The longest files begin first, then those that hold slow tests, so that no core waits for another at the end."""
    if n := config.getoption("--sample"):
        items[:] = [item for item, asked in zip(items, is_sampled(items, n), strict=True) if asked]
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


def pytest_collection_finish():
    """What the libraries have brought along lives to the end: the collector need not look through it again."""
    gc.collect()
    gc.freeze()
