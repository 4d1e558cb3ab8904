"""Hand coding through the API and its client, the commands, and plain pages."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

import quintain
from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from tests.codings import CODING, code_all, coding_site
from tests.web_support import browser_of, on_one_line, post, running, token_for


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A round with an open coding."""
    workspace = coding_site(tmp_path_factory.mktemp("coding"))
    yield workspace
    workspace.close()


@pytest.fixture(scope="module")
def clients(made: Workspace) -> Iterator[Callable[[str], Client]]:
    """A function that gives a client which acts for somebody."""
    opened: dict[str, Client] = {}
    with running(made) as url:
        yield lambda name: opened.setdefault(name, Client(url, token_for(made, name)))
        for one in opened.values():
            one.close()


def test_a_whole_coding_with_the_client(clients: Callable[[str], Client], tmp_path: Path) -> None:
    """Make, take, code, go back, close, read, download: every step is one call, and every record is read back."""
    owner, coder = clients("olga"), clients("xenia")
    text = CODING.replace('"look"', '"whole"').replace("items = 12", "items = 4").replace("coders = 2", "coders = 1")
    assert owner.put_coding("mood", text).progress.wanted == 4
    assert "mood/whole" in {one.ref for one in coder.codings("mood")}
    first = coder.next_to_code("mood/whole")
    assert first is not None
    assert coder.code_item("mood/whole", first.id, ["trivial"]).done == 1
    back = coder.last_coded("mood/whole")
    assert back is not None
    assert (back.id, back.chosen) == (first.id, ("trivial",))
    assert coder.last_coded("mood/whole", before=back.id) is None
    with pytest.raises(BadInput, match="not one of"):
        coder.code_item("mood/whole", first.id, ["funny"])
    for _ in range(3):
        item = coder.next_to_code("mood/whole")
        assert item is not None
        coder.code_item("mood/whole", item.id, [], note="fine")
    assert coder.next_to_code("mood/whole") is None
    with pytest.raises(Forbidden):
        coder.coding_results("mood/whole")
    figures = owner.coding_results("mood/whole").figures
    assert figures is not None
    assert [one.share.value for one in figures.categories] == [0.0, 0.25, 0.0, 0.0]
    closed = owner.close_coding("mood/whole")
    assert closed.coding.state == "closed"
    with pytest.raises(Conflict):
        coder.next_to_code("mood/whole")
    rows = list(csv.DictReader(owner.download_codes("mood/whole", tmp_path / "codes.csv").open()))
    assert [row["trivial"] for row in rows].count("1") == 1
    assert {row["arm"] for row in rows} == {"prompt", "none"}
    assert owner.coding("mood/whole").progress.coders == 1


def test_the_commands(made: Workspace, cli: Callable[..., Result], tmp_path: Path) -> None:
    """Owners do with commands what they do on pages; the table they write is what the agreement command reads."""
    at = ("--workspace", made.settings.workspace)
    file = tmp_path / "coding.toml"
    file.write_text(CODING.replace('"look"', '"by-command"'))
    new = json.loads(cli(*at, "study", "code", "new", file, "--json").stdout)
    assert (new["ref"], new["progress"]["wanted"]) == ("mood/by-command", 24)
    assert "Nothing has been coded" in cli(*at, "study", "code", "results", "mood/by-command").stderr
    assert cli(*at, "study", "code", "close", "mood/by-command").exit_code == 1
    with made.session() as db:
        for name in ("xenia", "zoe"):
            code_all(db, name, "mood/by-command")
    assert "24 of 24" in cli(*at, "study", "code", "status", "mood").stdout
    shown = cli(*at, "study", "code", "close", "mood/by-command")
    assert "prompt (6 items)" in shown.stdout
    results = json.loads(cli(*at, "study", "code", "results", "mood/by-command", "--json").stdout)["figures"]
    table = tmp_path / "codes.csv"
    assert json.loads(cli(*at, "study", "code", "export", "mood/by-command", "--out", table, "--json").stdout) == {
        "file": str(table),
        "codes": 24,
    }
    agreed = json.loads(cli("labels", "agreement", table, "--column", "worker=coder", "--json").stdout)
    whole = {name: results["alpha"][name] for name in ("value", "low", "high")}
    assert agreed["krippendorff_alpha"] == pytest.approx(whole)
    columns = {"worker": "coder", "label": "duplicate"}
    one = quintain.agreement(table, columns=columns).to_dict()["krippendorff_alpha"]
    alpha = next(two["alpha"] for two in results["categories"] if two["name"] == "duplicate")
    assert one["value"] == pytest.approx(alpha["value"])


def test_the_pages_without_scripts(made: Workspace) -> None:
    """An owner draws a sample on the form, faults stay on it; experts code, nobody learns an arm; the owner closes."""
    owner, coder = browser_of(made, "olga"), browser_of(made, "yann")
    new = "/tasks/mood/codings/new"
    assert 'value="rounds/1" checked' in on_one_line(owner.get(f"{new}?source=rounds/1"))
    fields = {"title": "By page", "name": "by-page", "categories": "odd, sad", "items": "3", "coders": "1", "seed": "0"}
    fields |= {"sharing": "equal", "people": "experts", "minutes": "5", "part": "items", "several": "on"}
    assert post(owner, new, new, **fields).status_code == 422
    assert post(owner, new, new, sources="rounds/1", **fields).headers["location"] == "/tasks/mood/codings/by-page"
    page = "/tasks/mood/codings/by-page"
    assert post(owner, new, new, sources="rounds/1", **{**fields, "title": "Another"}).status_code == 409
    toml = 'task = "mood"\nname = "by-hand"\ntitle = "By hand"\nsources = ["rounds/1"]\nitems = 3'
    assert post(owner, f"{page}/edit", f"{page}/edit", as_file="1", toml=toml).status_code == 409
    assert owner.get("/tasks/mood/codings/by-hand").status_code == 404
    assert coder.get(f"{page}/edit").status_code == 403
    desk = coder.get(f"{page}/code").text
    assert "prompt" not in desk.split("<main")[1].split("</main>")[0]
    action = desk.split(f'action="{page}/code/')[1].split('"')[0]
    assert post(coder, f"{page}/code", f"{page}/code/{action}").status_code == 422
    both = post(coder, f"{page}/code", f"{page}/code/{action}", category=["odd", "none"])
    assert both.status_code == 422
    assert post(coder, f"{page}/code", f"{page}/code/{action}", category="odd").status_code == 303
    assert "You coded this one before" in coder.get(f"{page}/code?back=1").text
    assert coder.get(f"{page}/codes.csv").status_code == 403
    assert "Close it and show the arms" not in coder.get(page).text
    shown = on_one_line(owner.get(page))
    assert "1 of 3" in shown
    assert "How do the arms differ?" not in shown
    assert post(owner, page, f"{page}/close").status_code == 303
    assert "prompt" in on_one_line(owner.get(page))
    assert "This coding is closed" in coder.get(f"{page}/code").text
    assert "Code a sample by hand" in owner.get("/tasks/mood/rounds/1").text
    assert "A look at round 1" in coder.get("/").text
    assert browser_of(made, "rita").get(page).status_code == 403
