"""What every page that any test renders must be: looked at where it is rendered, whoever asked for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.responses import Response

from quintain.web.visit import Visit

ID = re.compile(r"""<[a-zA-Z][^<>]*?\sid=["']?([^"'\s>]+)""")
SCRIPT = re.compile(r"<(script|style|textarea)\b.*?</\1>", re.DOTALL)


def repeated_ids(html: str) -> list[str]:
    """Give the ids that stand at more than one element of a page; scripts take the first and do something else.

    >>> repeated_ids('<p id="a"></p><i class="x" id="a">')
    ['a']
    """
    counts = Counter(ID.findall(SCRIPT.sub(_opening, html)))
    return sorted(name for name, number in counts.items() if number > 1)


def _opening(element: re.Match[str]) -> str:
    """Give the opening tag alone: what is written inside is no element of the page."""
    return element[0][: element[0].index(">") + 1]


@contextmanager
def pages_looked_at() -> Iterator[None]:
    """Fail whatever renders a page with an id that is there twice."""
    render = Visit.render

    def render_and_look(visit: Visit, template: str, **values: Any) -> Response:
        answer = render(visit, template, **values)
        repeated = repeated_ids(bytes(answer.body).decode())
        assert not repeated, f"{template}: more than one element has the id {', '.join(repeated)}"
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Visit, "render", render_and_look)
        yield
