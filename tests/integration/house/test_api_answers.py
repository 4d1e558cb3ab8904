"""What the API says of its answers, and the client's calls that are written from it."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from quintain.web.routes import API

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    """Give the API's description."""
    app = FastAPI()
    for endpoint in API:
        endpoint.add_to(app.router)
    return app.openapi()


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through every operation, each with its name."""
    for methods in description["paths"].values():
        for operation in methods.values():
            yield operation["operationId"], operation


def described(description: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether a schema says what an answer holds: properties, or a file."""
    if "$ref" in schema:
        return described(description, description["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return all(described(description, one) for one in schema["anyOf"])
    return bool(schema.get("properties")) or schema.get("format") == "binary"


def test_every_answer_is_described(description: dict[str, Any]) -> None:
    """No endpoint answers a bare dictionary: each has properties, is a file, or has no answer at all."""
    for name, operation in operations(description):
        (status, answer), *_ = [one for one in operation["responses"].items() if one[0].startswith("2")]
        if status == "204":
            assert "content" not in answer, name
            continue
        for content in answer["content"].values():
            assert described(description, content["schema"]), name


# The content of examples: their fields, labels and answers are as the task defines them.
OF_EXAMPLES = {
    *("inputs", "answer", "answers", "gold", "target", "prediction", "examples", "draft", "draft_target"),
    *(
        "before",
        "after",
        "first",
        "second",
        "original",
        "modified",
        "original_label",
        "claimed_label",
        "modified_label",
    ),
}
# What else nobody can know beforehand, and why.
OPEN = {
    "Act.details": "each action has its own",
    "AuditLine.details": "each action has its own",
    "Chart.spec": "a Vega-Lite specification",
    "ContestProposal.label": "whatever the task's kind answers",
    "Crowd.rules": "as the round's file has them",
    "DatasetVersion.meta": "what came with the file, or was noted by whoever made it",
    "JobStanding.result": "each kind of job has its own",
    "ModelVersion.meta": "as the model's file has it",
    "Release.spec": "as the release's file has it",
    "Step.settings": "those of the command that made one version from the other",
    "Submission.meta": "as the model's file has it",
    "TaskInfo.options": "as the task's kind has them",
}


def open_places(description: dict[str, Any]) -> set[str]:
    """Name every property of what answers hold, all the way down, of which the description does not say what it is."""
    schemas = description["components"]["schemas"]
    found: set[str] = set()
    seen: set[str] = set()

    def walk(schema: dict[str, Any], place: str) -> None:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name not in seen:
                seen.add(name)
                for one, inner in schemas[name].get("properties", {}).items():
                    walk(inner, f"{name}.{one}")
            return
        parts = [*schema.get("anyOf", ()), *schema.get("prefixItems", ())]
        parts += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
        for part in parts:
            walk(part, place)
        if not parts and schema.get("type", "object") in {"object", "array"} and not schema.keys() & {"enum", "const"}:
            found.add(place)

    for _, operation in operations(description):
        for status, answer in operation["responses"].items():
            if status.startswith("2"):
                for content in answer.get("content", {}).values():
                    walk(content["schema"], operation["operationId"])
    return found


def test_answers_are_described_all_the_way_down(description: dict[str, Any]) -> None:
    """Beside what people, models and files bring themselves, every value of every answer has a type."""
    found = open_places(description)
    assert {place for place in found if place.partition(".")[2] not in OF_EXAMPLES} == set(OPEN)
    assert {place.partition(".")[2] for place in found} >= OF_EXAMPLES


def test_open_places_are_found_however_deep(description: dict[str, Any]) -> None:
    """A dictionary of anything is found in a list of lists, and behind an alternative."""
    schemas = description["components"]["schemas"]
    loose = {"type": "array", "items": {"anyOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}]}}
    figure = {**schemas["Figure"], "properties": {**schemas["Figure"]["properties"], "n": loose}}
    changed = {**description, "components": {"schemas": {**schemas, "Figure": figure}}}
    assert open_places(changed) - open_places(description) == {"Figure.n"}


def test_operations_have_names_of_their_own(description: dict[str, Any]) -> None:
    """The client calls them by these."""
    names = [name for name, _ in operations(description)]
    assert len(names) == len(set(names)) > 100


def test_the_clients_calls_are_those_of_the_api() -> None:
    """Change the API, and `python scripts/make_client.py` brings the client in step."""
    made = runpy.run_path(str(ROOT / "scripts" / "make_client.py"))["render"]()
    assert [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text] == []
    assert len(made) > 10


ROLES = {"require_admin", "require_owner", "require_role"}


def acting(path: Path) -> Iterator[ast.FunctionDef]:
    """Go through the functions of a file that change something: what a page does with a form, all of the API."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            given = [ast.unparse(one.annotation) for one in node.args.args if one.annotation]
            if "Posting" in given or "pages" not in path.parts:
                yield node


def test_roles_are_checked_by_the_verbs_of_services() -> None:
    """No endpoint, no command and no page that takes a form asks for a role itself; pages ask for what they show."""
    folder = ROOT / "src" / "quintain"
    surfaces = [*folder.glob("web/api/**/*.py"), *folder.glob("cli/**/*.py"), *folder.glob("web/pages/**/*.py")]
    asking = {
        f"{path.name}: {function.name}"
        for path in surfaces
        for function in acting(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id in ROLES
    }
    assert asking == set()
    assert len(surfaces) > 60
