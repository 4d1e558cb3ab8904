"""What every adapter must do, whoever wrote it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from quintain.adapters.contract import ADAPTERS, Adapter, EndpointSecret, Outside
from quintain.adapters.ledger import OverBudget
from quintain.adapters.manifest import Manifest, read_manifest
from quintain.adapters.reply_store import spent_by
from quintain.core.errors import BadInput, Fault, Unavailable
from quintain.core.task import Task
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter
from tests.endpoint import Server, ok

MEMBERS = list(ADAPTERS.items())
REMOTE = [name for name, member in MEMBERS if member.place == "remote"]
INSIDE = [name for name, member in MEMBERS if member.place == "sandbox"]


@pytest.fixture
def task() -> Task:
    """A task of sentiment."""
    return check_task(starter("text-classification", "sentiment"))


@pytest.mark.parametrize(("name", "member"), MEMBERS, ids=[name for name, _ in MEMBERS])
def test_an_adapter_describes_itself(name: str, member: type[Adapter]) -> None:
    """It has its name, a title, a place, and says what each option means."""
    assert member.name == name
    assert member.title
    assert member.place in {"sandbox", "remote", "file"}
    assert all(meaning.endswith(".") for meaning in member.options.values())


@pytest.mark.parametrize(("name", "member"), MEMBERS, ids=[name for name, _ in MEMBERS])
def test_an_empty_folder_is_a_fault_and_not_an_exception(
    name: str, member: type[Adapter], task: Task, tmp_path: Path
) -> None:
    """A check of a folder with nothing in it names what is missing."""
    faults = member().check(tmp_path, task, {})
    assert faults
    assert all(isinstance(fault, Fault) for fault in faults)
    assert any("missing" in fault.reason for fault in faults)


@pytest.mark.parametrize(("name", "member"), MEMBERS, ids=[name for name, _ in MEMBERS])
def test_an_adapter_runs_in_one_place(name: str, member: type[Adapter]) -> None:
    """One of the sandbox has `open_model` beside it; any other connects."""
    module = sys.modules[member.__module__]
    if member.place == "sandbox":
        assert list(inspect.signature(module.open_model).parameters) == ["path", "options"]
    else:
        assert member.connect is not Adapter.connect


@pytest.mark.parametrize("name", REMOTE)
def test_a_budget_holds_for_every_adapter_with_a_key(name: str, task: Task, tmp_path: Path) -> None:
    """It says what asking takes, enters every call as its server saw it, and stops before the key's money is gone."""
    adapter = ADAPTERS.get(name)()
    example = adapter.example
    assert example is not None
    server = Server()
    server.respond = lambda path, body, headers: ok(example.reply(body, task.label_names[0]))
    secret = EndpointSecret(server.url, "k", prices=(1000.0, 1000.0), budget=2.0)
    outside = Outside((server.url,), {"key": secret}, tmp_path, budget=2.0, run="a run")
    options = {**example.options, "url": server.url, "secret": "key"}
    assert adapter.check(tmp_path, task, options) == []
    size = adapter.asking_size(task, options)
    assert size is not None
    assert size.reply_tokens >= size.likely > 0
    asked = 0
    with adapter.connect(tmp_path, task, options, outside) as connection, suppress(OverBudget):
        while asked < 1000:
            connection.predict([{"text": f"text {asked}"}])
            asked += 1
    server.close()
    assert 0 < asked < 1000, "no budget has stopped it"
    assert connection.ledger is not None
    assert 0 < connection.ledger.spent <= 2.0
    assert connection.ledger.facts()["requests"] == len(server.calls) == asked
    assert spent_by(tmp_path, "a run") == pytest.approx(connection.ledger.spent)


@pytest.mark.parametrize("name", [name for name, member in MEMBERS if member.place != "remote"])
def test_models_that_are_not_elsewhere_cost_nothing(name: str, task: Task) -> None:
    """What runs here, or was computed before, draws on no budget."""
    assert ADAPTERS.get(name)().asking_size(task, {}) is None


@pytest.mark.parametrize("name", INSIDE)
def test_an_adapter_of_the_sandbox_imports_nothing_heavy(name: str) -> None:
    """Inside there is the standard library and `core`; libraries come in only where the model asks for them."""
    module = ADAPTERS.get(name).__module__
    code = f"import sys, {module}\nprint([m for m in ('polars', 'numpy', 'httpx2', 'sqlalchemy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_baseline_of_our_own_finds_all_that_it_imports() -> None:
    """Its process is shown some packages of ours only, and reads all kinds of task and all baselines from them."""
    allowed = ["core", "adapters", *ADAPTERS.get("builtin").modules]
    code = f"""
import sys
class Walls:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("quintain.") and name.split(".")[1] not in {allowed}: raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Walls())
import quintain.adapters.builtin
from quintain.models.contract import BASELINES
from quintain.tasks.contract import KINDS
print(len(KINDS.names()) and len(BASELINES.names()) > 0)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "True", result.stderr


def test_a_library_that_the_server_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that could never run here is refused when it is submitted, not when it is run."""
    adapter = ADAPTERS.get("onnx")
    adapter().permit({}, Outside())
    monkeypatch.setattr(adapter, "requires", ("no_such_library",))
    with pytest.raises(Unavailable, match=r"need no_such_library, .*pip install 'quintain\[onnx\]'"):
        adapter().permit({}, Outside())


def test_a_manifest_is_read(tmp_path: Path) -> None:
    """Adapter, batch size and options come from it; one that is missing means a plain handler."""
    assert read_manifest(tmp_path) == Manifest()
    (tmp_path / "quintain.toml").write_text('adapter = "sklearn"\nbatch_size = 8\n[options]\ninput = "dict"\n')
    found = read_manifest(tmp_path)
    assert (found.adapter, found.batch_size, found.options) == ("sklearn", 8, {"input": "dict"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("adapter = ", "quintain.toml"),
        ('adapter = "onxx"', "'onxx' is not one of"),
        ("batch_size = 0", "from 1 to"),
        ("batch_size = true", "from 1 to"),
        ("batchsize = 3", "did you mean 'batch_size'?"),
        ("options = 3", "is not a table"),
        ("name = 3", "is 3, not a text"),
        ('[options]\nflie = "x.py"', "did you mean 'file'?"),
    ],
)
def test_a_bad_manifest_is_explained(text: str, said: str, tmp_path: Path) -> None:
    """Each fault names the file and the key."""
    (tmp_path / "quintain.toml").write_text(text)
    with pytest.raises(BadInput) as caught:
        read_manifest(tmp_path)
    assert said in str(caught.value)
    assert all(fault.file == "quintain.toml" for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("adapter", "files", "options", "said"),
    [
        ("handler", {"handler.py": "def predict(:"}, {}, "does not parse"),
        ("handler", {"handler.py": "def answer(b): ..."}, {}, "no function predict"),
        ("handler", {}, {"file": "../outside.py"}, "is missing"),
        ("sklearn", {"model.pkl": ""}, {"input": "frames"}, "`text` or `dict`"),
        ("onnx", {"model.onnx": ""}, {"encoding": "magic"}, "one of text, words"),
        ("onnx", {"model.onnx": ""}, {"encoding": "words"}, "is missing"),
        ("transformers", {"config.json": "{", "model.safetensors": "", "tokenizer.json": ""}, {}, "is not JSON"),
        (
            "transformers",
            {"config.json": '{"auto_map": {}}', "model.safetensors": "", "tokenizer.json": ""},
            {},
            "code of its own",
        ),
        ("dynalab", {"handler.py": "x = 1"}, {}, "neither a handler class"),
        ("dynalab", {"handler.py": "class A: ..."}, {"class": "B"}, "no class B"),
        ("chat", {}, {"url": "https://x.example", "model": "m", "prompt": "{txt}"}, "names {txt}"),
        ("chat", {}, {"url": "file:///etc/passwd", "model": "m", "prompt": "{text}"}, "not an address"),
        ("chat", {}, {"url": "https://u:p@x.example", "model": "m", "prompt": "{text}"}, "not an address"),
        ("chat", {}, {"url": "https://x", "model": "m", "prompt": "{text}", "concurrency": 9000}, "between 1 and 1000"),
        ("open-inference", {}, {"url": "https://x.example", "timeout": -1}, "number above 0"),
        ("predictions", {"predictions.csv": "id,prediction\n"}, {}, "no rows"),
        ("predictions", {"predictions.csv": "id,prediction\na,positive\na,negative\n"}, {}, "was there before"),
        ("predictions", {"predictions.csv": "id,prediction\na,postive\n"}, {}, "Did you mean 'positive'?"),
        ("predictions", {"predictions.csv": "name,label\na,positive\n"}, {}, "id"),
    ],
)
def test_what_is_wrong_with_a_folder_is_seen_without_running_it(
    adapter: str, files: Mapping[str, str], options: Mapping[str, Any], said: str, task: Task, tmp_path: Path
) -> None:
    """Faults of each adapter's own files and options."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    faults = ADAPTERS.get(adapter)().check(tmp_path, task, options)
    assert said in "\n".join(map(str, faults))
