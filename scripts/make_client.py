"""Write the calls of the Python client from the API's own description.

python scripts/make_client.py          writes src/quintain/client/calls
python scripts/make_client.py --check  exits with 1 when a file there is stale

An operation becomes a method of its name. What its address and its body name are its arguments; what may be asked for
besides comes by keyword. The answer is the record that the API documents, or what is in it where that is one thing.
Files and uploads are written by hand, beside.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI

import quintain.core.records
from quintain.web.routes import API

FOLDER = Path(__file__).parent.parent / "src" / "quintain" / "client" / "calls"
# The groups of operations whose calls are written here, and what they are about.
GROUPS = {
    "board": "the board of a task: what people keep of it, its settings, the keys that sign",
    "evaluation": "how models did (`task/name`, or `task/name@2`), and about runs, by their numbers",
    "codings": "hand coding (`task/name`): samples that people sort into categories",
    "contrast": "contrast projects (`task/name`): edits of test items, checks, and which sets break a model",
    "contests": "contests (`task/name`): teams, systems, pairs, and what came of it",
    "datasets": "data sets, `task/name` for the newest version or `task/name@2`",
    "models": "models, `task/name` for the newest version or `task/name@2`",
    "status": "the server itself, and the jobs that workers do",
    "study": "reports on a task: its models, texts, labels and people",
    "tasks": "tasks, and a search for anything",
    "trials": "trials of protocols (`task/name`)",
    "users": "accounts, for admins; owners may give roles on their tasks",
    "me": "oneself: the account, tokens, messages, what one wrote and earned",
    "pay": "what people earned with tasks and in rounds (`task/number`)",
    "quizzes": "quizzes (`task/name`), qualifications, and who may write in rounds (`task/number`)",
    "rounds": "rounds (`task/number`), for their owners",
    "validation": "validations (`task/number` for that of a round, or `task/name`), and pages to judge, by their token",
    "writing": "writing: rounds (`task/number`), sessions by their key, attempts by their number",
}
# What the client offers in a form of its own.
BY_HAND = {
    "add_variant",
    "aggregations",
    "ask_model",
    "begin_upload",
    "board",
    "board_model",
    "compare_models",
    "import_contrast",
    "let_score",
    "put_part",
    "rank",
    "runs",
    "save_fork",
    "sensitivity",
    "set_board",
    "state_fact",
    "submit_model",
    "take_prolific_event",
    "take_snapshot",
    "uncertainty",
    "unqualify_judges",
    "upload",
    "write",
}
# Answers of several things of which the client gives one.
GIVES = {
    "codings": "codings",
    "decide_earnings": "earnings",
    "earnings": "earnings",
    "my_earnings": "earnings",
    "eligible": "people",
    "judges": "judges",
    "models": "models",
    "overlap": "overlaps",
    "results": "datasets",
    "extend_page": "lease_until",
    "validation_policies": "versions",
}
# What may be asked for besides, and comes without its name all the same.
BY_PLACE = {("eligibility", "name"), ("remove_fork", "name"), ("qualifications", "name")}
PLACE = re.compile(
    r"^/tasks/\{task\}/(codings|contests|contrast|datasets|models|quizzes|rounds|trials|validations)/\{\w+\}"
)
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "Mapping[str, Any]"}
NOTE = "Written by scripts/make_client.py from the API's description; change that, not this."
REQUIRED = object()


@dataclass(frozen=True)
class Argument:
    """An argument of a call: *sent* is the expression that goes into the request."""

    name: str
    kind: str
    default: Any = REQUIRED
    sent: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}" + ("" if self.default is REQUIRED else f" = {self.default!r}")


def describe() -> dict[str, Any]:
    """Give the API's description."""
    app = FastAPI()
    for endpoint in API:
        endpoint.add_to(app.router)
    return app.openapi()


def records() -> dict[str, Any]:
    """Find every record, by its name."""
    found = {}
    for module in pkgutil.iter_modules(quintain.core.records.__path__, "quintain.core.records."):
        values = vars(importlib.import_module(module.name)).values()
        found |= {one.__name__: one for one in values if isinstance(one, type) and is_dataclass(one)}
    return found


class Writer:
    """Writes calls from *description*."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._paths = description["paths"]
        self._schemas = description["components"]["schemas"]
        self._records = records()

    def module(self, group: str) -> str:
        """Write the calls of a group."""
        calls = [self._call(*one) for one in self._operations(group)]
        text = "\n".join(calls)
        head = f'"""Calls about {GROUPS[group]}.\n\n{NOTE}\n"""'
        lines = [head, "", "from __future__ import annotations", "", *self._imports(text), "", ""]
        lines += [f"class {group.capitalize()}Calls:", f'    """What `Client` can ask about {group}."""', ""]
        return formatted("\n".join([*lines, "    _transport: Transport", "", text]))

    def _operations(self, group: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for path, methods in self._paths.items():
            for method, operation in methods.items():
                bodies = operation.get("requestBody", {}).get("content", {"application/json": {}})
                wanted = group in operation.get("tags", ()) and operation["operationId"] not in BY_HAND
                if wanted and "application/json" in bodies and self._answer(operation) is not None:
                    yield method.upper(), path.removeprefix("/api/v1"), operation

    def _answer(self, operation: Mapping[str, Any]) -> str | None:
        """Give the name of the record that an operation answers with, "" for none; None where it is a file."""
        status, answer = next((code, one) for code, one in operation["responses"].items() if code.startswith("2"))
        if status == "204":
            return ""
        schema = answer["content"].get("application/json", {}).get("schema", {})
        return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None

    def _call(self, method: str, path: str, operation: Mapping[str, Any]) -> str:
        where, arguments = self._address(path, operation)
        asked = [self._argument(one["name"], one["schema"], one) for one in operation.get("parameters", ())]
        within = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
        versioned = self._is_versioned(path, operation)
        query = [one for one in asked if one.name not in within and not (versioned and one.name == "version")]
        body = list(self._body(operation))
        placed = [one for one in query if one.default is REQUIRED or (operation["operationId"], one.name) in BY_PLACE]
        order = sorted([*arguments, *body, *placed], key=lambda one: one.default is not REQUIRED)
        free = [one for number, one in enumerate(order) if one.default is REQUIRED or self._leads(order, number)]
        named = [*(one for one in order if one not in free), *(one for one in query if one not in placed)]
        given = ", ".join(["self", *map(str, free), *(["*"] if named else []), *map(str, named)])
        request = [f'"{method}"', where]
        pairs = ", ".join(
            [*(["**version"] if versioned else []), *(f'"{one.name}": {one.sent or one.name}' for one in query)]
        )
        if versioned or query:
            request.append("params=" + ("{" + pairs + "}" if query else "version"))
        if body:
            request.append("json={" + ", ".join(f'"{one.name}": {one.sent or one.name}' for one in body) + "}")
        gives, line = self._reading(operation, ", ".join(request))
        lines = [f"def {operation['operationId']}({given}) -> {gives}:", docstring(operation["description"])]
        if versioned:
            kind = path.split("/")[3]
            lines.append(f'    where, version = address(ref, "{kind}")')
        return textwrap.indent("\n".join([*lines, f"    {line}", ""]), "    ")

    @staticmethod
    def _is_versioned(path: str, operation: Mapping[str, Any]) -> bool:
        """Whether an address names something of which there are versions, and the query says which."""
        asked = {one["name"] for one in operation.get("parameters", ())}
        return PLACE.match(path) is not None and "version" in asked

    @staticmethod
    def _leads(order: Sequence[Argument], number: int) -> bool:
        """Whether an argument may come without its name: the first of those that can be left out, if no flag."""
        first = number == 0 or order[number - 1].default is REQUIRED
        return first and not order[number].kind.startswith("bool")

    def _reading(self, operation: Mapping[str, Any], request: str) -> tuple[str, str]:
        name = self._answer(operation)
        if not name:
            return "None", f"self._transport.ask({request})"
        record = self._records[name]
        members = [one.name for one in fields(record)]
        part = GIVES.get(operation["operationId"], members[0] if len(members) == 1 else None)
        reading = f"return self._transport.read({name}, {request})"
        if part is None:
            return name, reading
        kind = next(one.type for one in fields(record) if one.name == part)
        return str(kind), f"{reading}.{part}"

    def _address(self, path: str, operation: Mapping[str, Any]) -> tuple[str, list[Argument]]:
        """Give the expression of the address, and the arguments that stand in it."""
        kinds = {one["name"]: one["schema"] for one in operation.get("parameters", ()) if one["in"] == "path"}
        if found := PLACE.match(path):
            start = "{where}" if self._is_versioned(path, operation) else f"{{ref_path(ref, '{found[1]}')}}"
            arguments = [Argument("ref", "str")]
        elif found := re.match(r"^/tasks/\{task\}", path):
            start, arguments = "{task_path(task)}", [Argument("task", "str")]
        else:
            start, arguments = "", []
        rest = path[found.end() :] if found else path
        named = re.findall(r"\{(\w+)\}", rest)
        arguments += [self._argument(name, kinds[name]) for name in named]
        for name in named:
            sent = f"{{quote({name}, safe='')}}" if kinds[name].get("type") == "string" else f"{{{name}}}"
            rest = rest.replace(f"{{{name}}}", sent)
        whole = start + rest
        if whole == start and start:
            return start.strip("{}").replace("'", '"'), arguments
        return (f'f"{whole}"' if "{" in whole else f'"{whole}"'), arguments

    def _body(self, operation: Mapping[str, Any]) -> Iterator[Argument]:
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            return
        refs = [one["$ref"] for one in (schema, *schema.get("anyOf", ())) if "$ref" in one]
        shape = self._schemas[refs[0].rpartition("/")[2]]
        required = shape.get("required", ())
        for name, one in shape["properties"].items():
            yield self._argument(name, one, {"required": name in required})

    def _argument(self, name: str, schema: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> Argument:
        kind, sent = self._kind(schema, name)
        if about is None or about.get("required"):
            return Argument(name, kind, sent=sent)
        default = schema.get("default")
        if kind.startswith("Iterable") and "None" not in kind:
            return Argument(name, kind, (), sent)
        if default is None and "None" not in kind and kind != "Any":
            kind += " | None"
        return Argument(name, kind, default, sent)

    def _kind(self, schema: Mapping[str, Any], name: str) -> tuple[str, str]:
        """Give the type of an argument, and how it is sent."""
        if "$ref" in schema:
            return self._kind(self._schemas[schema["$ref"].rpartition("/")[2]], name)
        if "anyOf" in schema:
            inner = [self._kind(one, name) for one in schema["anyOf"] if one.get("type") != "null"]
            empty = " | None" if any(one.get("type") == "null" for one in schema["anyOf"]) else ""
            sent = f"{name} and {inner[0][1]}" if empty and inner[0][1] else inner[0][1]
            return " | ".join(dict.fromkeys(kind for kind, _ in inner)) + empty, sent
        if schema.get("type") == "array":
            kind, _ = self._kind(schema["items"], name)
            whole = f"[dict(row) for row in {name}]" if kind.startswith("Mapping") else f"list({name})"
            return f"Iterable[{kind}]", whole
        kind = PLAIN.get(schema.get("type", ""), "Any")
        return kind, f"dict({name})" if kind.startswith("Mapping") else ""

    def _imports(self, text: str) -> Iterable[str]:
        words = set(re.findall(r"\w+", re.sub(r'""".*?"""', "", text, flags=re.DOTALL)))

        def line(module: str, *names: str) -> list[str]:
            used = [name for name in names if name in words]
            return [f"from {module} import {', '.join(used)}"] if used else []

        known = [("collections.abc", "Iterable", "Mapping"), ("datetime", "datetime"), ("typing", "Any")]
        standard = [one for names in (*known, ("urllib.parse", "quote")) for one in line(*names)]
        yield from [*standard, ""] if standard else []
        yield from line("quintain.client.refs", "address", "ref_path", "task_path")
        yield "from quintain.client.transport import Transport"
        homes: dict[str, list[str]] = {}
        for name, record in self._records.items():
            if name in words:
                homes.setdefault(record.__module__, []).append(name)
        for module, names in sorted(homes.items()):
            yield f"from {module} import {', '.join(sorted(names, key=str.lower))}"


def docstring(text: str) -> str:
    """Write what an operation says of itself as the docstring of its call."""
    first, *more = text.strip().split("\n\n")
    paragraphs = [textwrap.fill(" ".join(one.split()), 112) for one in (first, *more)]
    joined = "\n\n".join(paragraphs)
    end = "\n" if "\n" in joined else ""
    return textwrap.indent(f'"""{joined}{end}"""', "    ")


def formatted(text: str) -> str:
    """Give source as the formatter writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "120", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def render() -> dict[Path, str]:
    """Write every file."""
    writer = Writer(describe())
    return {FOLDER / f"{group}.py": writer.module(group) for group in GROUPS}


def main() -> None:
    """Write the files, or check them."""
    made = render()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" not in sys.argv:
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
    elif stale:
        sys.exit(f"{', '.join(path.name for path in stale)}: stale; run `python scripts/make_client.py`.")


if __name__ == "__main__":
    main()
