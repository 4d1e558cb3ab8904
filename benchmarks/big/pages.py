"""Which pages, lists and calls are measured, and as whom."""

from __future__ import annotations

from dataclasses import dataclass

from big.sizes import TASK

LIMITS_MS = (150.0, 300.0)  # warm and cold


@dataclass(frozen=True, slots=True)
class Page:
    """An address that somebody opens; *heavy* ones are measured once or twice, not thirty times."""

    name: str
    path: str
    who: str | None = "admin"
    heavy: bool = False


_TASK = f"/tasks/{TASK}"
_API = f"/api/v1/tasks/{TASK}"
_JUDGED = f"{_TASK}/validation/1"

PAGES = (
    Page("home", "/", None),
    Page("home, signed in", "/"),
    Page("task overview", _TASK, None),
    Page("models", f"{_TASK}/models", None),
    Page("models, an owner", f"{_TASK}/models"),
    Page("a model", f"{_TASK}/models/model-0007", None),
    Page("search", "/search?q=model-00", None),
    Page("runs", f"{_TASK}/runs"),
    Page("data", f"{_TASK}/data", None),
    Page("rows of a data set", f"{_TASK}/data/set-1", None),
    Page("compare", f"{_TASK}/compare?a=model-0001&b=model-0002", None),
    Page("board page", f"{_TASK}/board", None),
    Page("board as JSON", f"{_API}/board", None),
    Page("board ranked", f"{_API}/board/rank", None),
    Page("board's best", f"{_TASK}/board/top", None),
    Page("board uncertainty", f"{_API}/board/uncertainty", None, heavy=True),
    Page("rounds", f"{_TASK}/rounds"),
    Page("round page", f"{_TASK}/rounds/1"),
    Page("round's pay", f"{_TASK}/rounds/1/pay"),
    Page("round's texts", f"{_TASK}/rounds/1/texts"),
    Page("round's flags", f"{_TASK}/rounds/1/flags"),
    Page("task's pay", f"{_TASK}/pay"),
    Page("a writer's outcomes", f"{_TASK}/outcomes/1", "writer"),
    Page("a writer's work", "/work", "writer"),
    Page("a writer's earnings", "/work/earnings", "writer"),
    Page("a judge's earnings", "/work/earnings", "judge"),
    Page("validation console", _JUDGED),
    Page("judges", f"{_JUDGED}/judges"),
    Page("items", f"{_JUDGED}/items"),
    Page("gold items", f"{_JUDGED}/gold"),
    Page("adjudicate", f"{_JUDGED}/adjudicate"),
    Page("judging, landing", f"{_TASK}/judge/1", "judge"),
    Page("timeline", f"{_TASK}/timeline", None),
    Page("people", "/admin"),
    Page("people as JSON", "/api/v1/users"),
    Page("audit", "/admin/audit"),
    Page("health", "/admin/health"),
    Page("export: board", f"{_API}/board/export?format=csv", None, heavy=True),
    Page("asking for attempts", f"{_API}/rounds/1/attempts", heavy=True),  # a worker writes the files of many rows
    Page("asking for judgements", f"{_API}/validations/1/judgements", heavy=True),
)
