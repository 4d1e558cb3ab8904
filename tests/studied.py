"""A workspace to report on: a round with two conditions, and items that had labels before they were judged."""

from __future__ import annotations

from pathlib import Path

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.console import manage as validate
from quintain.settings import Settings
from tests.people import make_person
from tests.released import Made, judge, judged_round, unlike_texts
from tests.web_support import PASSWORD

OLD = "mood/old"
VOTES = {
    "fine": ("positive",) * 5,
    "awful": ("negative",) * 4 + ("neutral",),
    "table": ("neutral",) * 5,
    "so so": ("mixed",) * 3 + ("neutral",) * 2,
    "hm": ("positive", "positive", "negative", "negative", "neutral"),
}


def studied_workspace(folder: Path) -> Workspace:
    """Make it in *folder*: twelve texts with a prompt, eight without, five old items; olga owns it, rita nothing."""
    workspace = create_workspace(Settings(workspace=folder, login_attempts=1000))
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        made = [
            Made(f"p {at} {text}", "neutral", ("positive",) * 5, at % 3, at)
            if at < 12
            else Made(text[:9], "neutral", ("positive",) * 5, at % 3)
            for at, text in enumerate(unlike_texts(20))
        ]
        judged_round(db, owner, made)
        validate.open_validation(db, owner, OLD)
        rows = [{"inputs": {"text": text}, "answer": "positive" if text == "fine" else "neutral"} for text in VOTES]
        validate.add_items(db, owner, OLD, rows)
        judge(db, VOTES, OLD, "expert")
        make_person(db, "rita", RoleName.WORKER)
        for name in ("olga", "rita"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace
