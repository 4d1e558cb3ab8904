"""The front matter of a README, as far as data files are named in it: the list `configs` of its YAML."""

from __future__ import annotations

from typing import Any

import yaml

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text


class _Names(yaml.BaseLoader):
    """YAML in which every value is the text that stands there: a configuration `1.10` is not the number 1.1."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse references: a few lines of them can stand for more than any memory holds."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # missing from the stubs
            raise yaml.composer.ComposerError(None, None, "references (*name) are not read here; write it out", mark)
        return super().compose_node(parent, index)


def read_configs(readme: str, *, file: str) -> list[dict[str, Any]]:
    """Return the list `configs` of the front matter in *readme*; an empty one where there is none."""
    block = _block(readme.removeprefix("\ufeff").splitlines(), file)
    try:
        tables = yaml.load(block, _Names)  # noqa: S506 - a BaseLoader makes texts, lists and mappings only
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else None
        raise _problem(file, Text("not valid YAML: {error}", error=error.problem or error.context), line) from None
    except yaml.YAMLError as error:
        raise _problem(file, Text("not valid YAML: {error}", error=str(error).splitlines()[0])) from None
    except RecursionError:
        raise _problem(file, Text("the YAML is nested too deeply")) from None
    if not block.strip():
        return []
    if not isinstance(tables, dict):
        raise _problem(file, Text("is not a mapping"), 2)
    configs = tables.get("configs") or []
    configs = configs if isinstance(configs, list) else [configs]
    if not all(isinstance(config, dict) for config in configs):
        raise _problem(file, Text("'configs' is not a list of mappings"))
    return configs


def _block(lines: list[str], file: str) -> str:
    if not lines or lines[0].rstrip() != "---":
        return ""
    ends = [number for number, line in enumerate(lines) if number and line.rstrip() in {"---", "..."}]
    if not ends:
        raise BadInput(faults=[Fault("the front matter has no end: a line '---' is missing", file=file, line=1)])
    return "\n".join(lines[1 : ends[0]]) + "\n"


def _problem(file: str, reason: str, line: int | None = None) -> BadInput:
    return BadInput(faults=[Fault("front matter: {reason}", reason=reason, file=file, line=line)])
