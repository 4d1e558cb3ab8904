"""Which pages, lists and calls are measured, and as whom."""

from __future__ import annotations

from dataclasses import dataclass

from big.sizes import TASK

LIMITS_MS = (150.0, 300.0)  # warm and cold


@dataclass(frozen=True, slots=True)
class Page:
    """An address that somebody opens; *heavy* ones are measured once or twice, not thirty times.

    A name in braces in the *path* is that of somebody who looks.
    """

    name: str
    path: str
    who: str | None = "admin"
    heavy: bool = False


_TASK = f"/tasks/{TASK}"
_API = f"/api/v1/tasks/{TASK}"
_JUDGED = f"{_TASK}/validation/1"
_CONTEST = "/tasks/duel/contests/spring"

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
    Page("models as JSON", f"{_API}/models", None),
    Page("a builder's form", f"{_TASK}/submit"),
    Page("training form", f"{_TASK}/train"),
    Page("talk", f"{_TASK}/talk", None),
    Page("results of a model", f"{_TASK}/models/model-0007/results/set-1"),
    Page("a model's answers", f"{_TASK}/models/model-0007/results/set-1/answers"),
    Page("board settings", f"{_TASK}/board/settings"),
    Page("task's settings", f"{_TASK}/settings"),
    Page("new round", f"{_TASK}/rounds/new"),
    Page("editing a round", f"{_TASK}/rounds/1/edit"),
    Page("adding a harvest", f"{_TASK}/rounds/harvest"),
    Page("who may write", f"{_TASK}/rounds/1/eligibility"),
    Page("writing, landing", f"{_TASK}/rounds/2/write", "writer"),
    Page("results of a quiz", f"{_TASK}/quizzes/intro/results"),
    Page("results of a quiz as JSON", f"{_API}/quizzes/intro/results"),
    Page("validations", f"{_TASK}/validation"),
    Page("a judge", f"{_JUDGED}/judges/{{judge}}"),
    Page("judges as JSON", f"{_API}/validations/1/judges"),
    Page("what may be released", f"{_JUDGED}/release"),
    Page("reports", f"{_TASK}/reports"),
    Page("codings", f"{_TASK}/codings"),
    Page("new coding", f"{_TASK}/codings/new"),
    Page("trials", f"{_TASK}/trials"),
    Page("contests", f"{_TASK}/contests"),
    Page("new contest", f"{_TASK}/contests/new"),
    Page("a contest", _CONTEST),
    Page("results of a contest", f"{_CONTEST}/results", None),
    Page("pairs of a contest", f"{_CONTEST}/pairs", None),
    Page("pairs with a tag", f"{_CONTEST}/pairs?tag=negation", None),
    Page("pairs that broke a system", f"{_CONTEST}/pairs?broke=team-1", None),
    Page("one pair", f"{_CONTEST}/pairs/1", None),
    Page("contrast", f"{_TASK}/contrast"),
    Page("jobs", "/jobs"),
    Page("notifications", "/notifications", "writer"),
    Page("a writer's home", "/", "writer"),
    Page("a judge's work", "/work", "judge"),
    Page("a writer's account", "/account", "writer"),
    Page("people", "/admin"),
    Page("people as JSON", "/api/v1/users"),
    Page("audit", "/admin/audit"),
    Page("health", "/admin/health"),
    Page("export: board", f"{_API}/board/export?format=csv", None, heavy=True),
    Page("asking for attempts", f"{_API}/rounds/1/attempts", heavy=True),  # a worker writes the files of many rows
    Page("asking for judgements", f"{_API}/validations/1/judgements", heavy=True),
)
