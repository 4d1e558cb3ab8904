"""Outside of its package nobody asks which member of a family something is: what differs is in the contract."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from quintain.adapters.contract import ADAPTERS
from quintain.core.registry import Registry
from quintain.data.contrast.contract import CONTRAST_FORMATS
from quintain.data.readers.contract import READERS
from quintain.labels.contract import AGGREGATORS
from quintain.metrics.contract import METRICS
from quintain.models.contract import BASELINES
from quintain.models.learning import LEARNERS
from quintain.perturbations.contract import PERTURBATIONS
from quintain.perturbations.drafts.contract import DRAFT_RULES
from quintain.tasks.contract import KINDS

ALLOWED = {"metrics": ("stats/grading.py",)}  # rules of grading single answers, of which some share a metric's name
SOURCE = Path(__file__).parents[2] / "src" / "quintain"


@dataclass(frozen=True)
class Family:
    """A family, the folder of its members, and the words by which code calls the name of one."""

    members: Registry[object]
    folder: str
    words: tuple[str, ...]


FAMILIES: Mapping[str, Family] = {
    "adapters": Family(ADAPTERS, "adapters", ("adapter",)),
    "metrics": Family(METRICS, "metrics", ("metric", "canonical_metric")),
    "kinds": Family(KINDS, "tasks", ("kind",)),
    "aggregators": Family(AGGREGATORS, "labels", ("aggregator", "aggregation", "method")),
    "perturbations": Family(PERTURBATIONS, "perturbations", ("perturbation", "variant")),
    "baselines": Family(BASELINES, "models", ("baseline", "model")),
    "learners": Family(LEARNERS, "models", ("learner",)),
    "contrast": Family(CONTRAST_FORMATS, "data", ("format", "layout")),
    "readers": Family(READERS, "data", ("format", "reader")),
    "drafts": Family(DRAFT_RULES, "perturbations", ("rule", "draft")),
}


@cache
def sources() -> list[tuple[str, ast.Module]]:
    """Parse every source of the package."""
    return [(str(path.relative_to(SOURCE)), ast.parse(path.read_text())) for path in sorted(SOURCE.rglob("*.py"))]


@cache
def questions() -> list[tuple[str, ast.Compare | ast.Match]]:
    """List the comparisons in every source, each with its path."""
    return [
        (path, node) for path, tree in sources() for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.Match)
    ]


@cache
def constants() -> Mapping[str, str]:
    """Give the texts that stand under a name at the top of a module: `CHAT = "chat"` compares as well as "chat"."""
    return {
        target.id: node.value.value
        for _, tree in sources()
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def texts_in(node: ast.AST, named: Mapping[str, str]) -> Iterator[str]:
    """Give the texts that are written out in some code, or stand in it under a name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in named:
            yield named[part.id]


def called(node: ast.AST, words: tuple[str, ...]) -> bool:
    """Say whether code is the name of a member, by what it is called: `adapter`, `row.adapter`, `model["adapter"]`."""
    if isinstance(node, ast.Name):
        return node.id in words
    if isinstance(node, ast.Attribute):
        return node.attr in words or (node.attr == "name" and called(node.value, words))
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value in words
    return False


def asks(node: ast.AST, family: Family, named: Mapping[str, str]) -> bool:
    """Say whether code asks which member of *family* something is."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        others = [side for side in sides if not called(side, family.words)]
        names = set(family.members.names()) if len(others) < len(sides) else set()
        return any(names & set(texts_in(side, named)) for side in others)
    if isinstance(node, ast.Match):
        names = set(family.members.names())
        cases = (text for case in node.cases for text in texts_in(case.pattern, named))
        return called(node.subject, family.words) and bool(names & set(cases))
    return False


@pytest.mark.parametrize("name", FAMILIES)
def test_nobody_outside_asks_which_member_it_is(name: str) -> None:
    """No comparison and no `match` outside of a family's package goes by the name of one of its members."""
    family = FAMILIES[name]
    outside = [(path, node) for path, node in questions() if not path.startswith(f"{family.folder}/")]
    asking = [f"{path}:{node.lineno}" for path, node in outside if asks(node, family, constants())]
    asking = [where for where in asking if where.partition(":")[0] not in ALLOWED.get(name, ())]
    assert len(outside) > 300
    assert asking == []


@pytest.mark.parametrize(
    "code",
    [
        'adapter == "chat"',
        'model.adapter != "chat"',
        'found.manifest.adapter in {"chat", "open-inference"}',
        'row["adapter"] == "predictions"',
        "adapter.name == CHAT",
        "match model.adapter:\n    case 'chat': pass",
    ],
)
def test_asking_would_be_found(code: str) -> None:
    """The test above sees each way of asking, also by a constant."""
    assert any(asks(node, FAMILIES["adapters"], {"CHAT": "chat"}) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize("code", ['place == "remote"', 'adapter == "no-member"', "adapter in ADAPTERS"])
def test_other_questions_are_not_taken_for_it(code: str) -> None:
    """What a contract says may be asked, and whether there is such a member at all."""
    assert not any(asks(node, FAMILIES["adapters"], {}) for node in ast.walk(ast.parse(code)))
