"""What is sent to a Ray cluster: a model once, and nothing that a run does not need."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from quintain.engine.cluster import KEPT_MODELS, PackedJob, PackedModel, RayEngine, pack_model, run_packed
from quintain.engine.jobs import CellJob
from quintain.engine.runner import RunnableModel
from quintain.engine.sandbox.limits import Limits
from quintain.tasks.definition import parse_task
from tests.evaluation import TASK


class Store:
    """Stands for the cluster's store of objects."""

    def __init__(self) -> None:
        self.put_models: list[PackedModel] = []

    def put(self, model: PackedModel) -> int:
        """Keep *model* and give a reference to it."""
        self.put_models.append(model)
        return len(self.put_models)


@pytest.fixture
def model(tmp_path: Path) -> RunnableModel:
    """A model with packages of its own."""
    for name in ("model", "packages"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "file").write_text(name * 1000)
    return RunnableModel(tmp_path / "model", "handler", packages=(tmp_path / "packages",), key="k0")


def engine_with(store: Store) -> RayEngine:
    """Give an engine that is connected to *store* and to nothing else."""
    engine: Any = RayEngine.__new__(RayEngine)
    engine._ray, engine._models, engine._putting = store, {}, threading.Lock()
    return engine


def test_a_model_is_put_once_for_all_of_its_cells(model: RunnableModel) -> None:
    """Many threads send cells of one version: its files are packed and stored once; a few versions are kept."""
    store = Store()
    engine = engine_with(store)
    threads = [threading.Thread(target=engine._model, args=[model]) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(store.put_models) == 1
    for number in range(1, KEPT_MODELS + 1):
        engine._model(RunnableModel(model.folder, "handler", key=f"k{number}"))
    assert "k0" not in engine._models
    assert len(engine._models) == KEPT_MODELS
    engine._model(RunnableModel(model.folder, "handler"))
    assert "" not in engine._models, "what has no hash is never taken for something else"


def test_a_job_without_its_model_is_small(model: RunnableModel, tmp_path: Path) -> None:
    """What travels with each cell is its inputs, not the files of the model."""
    job = CellJob(parse_task(TASK), model, tmp_path / "in", tmp_path / "out", False, 1, Limits())
    assert len(pickle.dumps(PackedJob(job, b"inputs"))) < 4000 < len(pickle.dumps(pack_model(model)))


def test_what_was_packed_arrives(model: RunnableModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the node, folder, packages and inputs are as they were, and nothing is left of them afterwards."""
    seen: dict[str, Any] = {}

    def run(self: object, job: CellJob, progress: object, stop: object) -> Any:
        seen["model"] = (job.model.folder / "inner" / "file").read_text()
        seen["packages"] = (job.model.packages[0] / "inner" / "file").read_text()
        seen["inputs"], seen["folder"] = job.inputs.read_bytes(), job.model.folder
        raise SystemExit

    monkeypatch.setattr("quintain.engine.cluster.LocalEngine.run", run)
    job = CellJob(parse_task(TASK), model, tmp_path / "in", tmp_path / "out", False, 1, Limits())
    with pytest.raises(SystemExit):
        run_packed(PackedJob(job, b"inputs"), pack_model(model), lambda done: None)
    assert (seen["model"], seen["packages"]) == ("model" * 1000, "packages" * 1000)
    assert seen["inputs"] == b"inputs"
    assert not seen["folder"].exists()
