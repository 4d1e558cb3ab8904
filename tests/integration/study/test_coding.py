"""Hand coding: the sample, who gets what, shares with their intervals, agreement, and the table they come from."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from statistics import NormalDist

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.coding import CodingFigures
from quintain.core.records.figures import Estimate
from quintain.data.trials import ArmFacts, TrialArm, TrialItem
from quintain.protocols.reading import shipped_text
from quintain.services.jobs import figures
from quintain.services.jobs.checks import CheckKind
from quintain.services.study import coding_figures
from quintain.services.study.coding_figures import close_coding, results
from quintain.services.study.coding_work import code_item, coding_offers, look_back, next_to_code
from quintain.services.study.codings import get_coding, list_codings, put_coding
from quintain.services.trial.trials import keep_simulated
from quintain.store.base import clock, now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.study.coding import refs_with_figures
from quintain.store.tables import CodingItem, CodingPlace, CodingRow
from tests.beginnings import Build
from tests.codings import CODING, REF, build, code_all, person, take_back
from tests.exported import export_codes, export_person
from tests.refusals import refusal


@pytest.fixture
def beginning() -> Build:
    """A round with two conditions, a data set, and people."""
    return build


@pytest.fixture
def olga(db: Session, blobs: Blobs) -> Actor:
    """The owner, who has opened a coding."""
    owner = person(db, "olga")
    put_coding(db, blobs, owner, CODING)
    return owner


def wilson(hits: float, total: int) -> tuple[float, float]:
    """Compute Wilson's interval from the formula in a book."""
    z = NormalDist().inv_cdf(0.975)
    share = hits / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def alpha(items: dict[str, list[str]]) -> float | None:
    """Compute Krippendorff's nominal α of the labels of each item from its definition."""
    paired = [labels for labels in items.values() if len(labels) > 1]
    every = [label for labels in paired for label in labels]
    apart = sum(2 * sum(a != b for a, b in combinations(labels, 2)) / (len(labels) - 1) for labels in paired)
    expected = 2 * sum(a != b for a, b in combinations(every, 2))
    return 1 - (len(every) - 1) * apart / expected if expected else None


def close_to(estimate: Estimate, value: float, low: float, high: float) -> bool:
    """Say whether a figure and its interval are these."""
    return [estimate.value, estimate.low, estimate.high] == pytest.approx([value, low, high], abs=1e-9)


def recompute(table: str, figures: CodingFigures) -> None:
    """Check every figure against what plain arithmetic makes of the exported table."""
    rows = list(csv.DictReader(io.StringIO(table)))
    by_item: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_item.setdefault(row["item"], []).append(row)
    assert (figures.items, figures.codes) == (len(by_item), len(rows))
    assert figures.coders == len({row["coder"] for row in rows})
    for one in figures.categories:
        parts = [sum(int(row[one.name]) for row in said) / len(said) for said in by_item.values()]
        assert close_to(one.share, sum(parts) / len(parts), *wilson(sum(parts), len(parts)))
        assert (one.most, one.any) == (sum(part > 0.5 for part in parts), sum(part > 0 for part in parts))
        assert one.alpha.value == pytest.approx(
            alpha({item: [row[one.name] for row in said] for item, said in by_item.items()})
        )
        for arm in figures.arms:
            inside = [part for part, said in zip(parts, by_item.values(), strict=True) if said[0]["arm"] == arm.arm]
            assert arm.items == len(inside)
            assert close_to(arm.shares[one.name], sum(inside) / len(inside), *wilson(sum(inside), len(inside)))
    shares = {(arm.arm, name): share for arm in figures.arms for name, share in arm.shares.items()}
    for two in figures.differences:
        first, second = shares[two.first, two.category], shares[two.second, two.category]
        (a, b, c), (d, e, f) = ((one.value or 0, one.low or 0, one.high or 0) for one in (first, second))
        assert close_to(two.difference, a - d, a - d - math.hypot(a - b, f - d), a - d + math.hypot(c - a, d - e))
    said = {item: [row["label"] for row in found] for item, found in by_item.items()}
    assert figures.alpha.value == pytest.approx(alpha(said))
    agreed = [sum(a == b for a, b in combinations(one, 2)) / math.comb(len(one), 2) for one in said.values()]
    assert figures.agreement.value == pytest.approx(sum(agreed) / len(agreed))


def test_the_sample_is_drawn_by_the_seed_and_evenly_over_arms(db: Session, blobs: Blobs, olga: Actor) -> None:
    """Six of each condition in a mixed order; the same seed draws the same, another one others; near texts are told."""
    items = list(db.scalars(select(CodingItem).order_by(CodingItem.draw)))
    arms = [one.arm for one in items]
    assert {arm: arms.count(arm) for arm in arms} == {"prompt": 6, "none": 6}
    assert arms != sorted(arms)
    assert arms != sorted(arms, reverse=True)
    again = put_coding(db, blobs, olga, CODING.replace('"look"', '"again"'))
    other = put_coding(db, blobs, olga, CODING.replace('"look"', '"other"').replace("seed = 3", "seed = 4"))
    keys = {
        ref: [
            (one.arm, one.key)
            for one in db.scalars(select(CodingItem).order_by(CodingItem.draw))
            if one.coding_id == at
        ]
        for ref, at in ((REF, 1), (again.ref, 2), (other.ref, 3))
    }
    assert keys[REF] == keys[again.ref] != keys[other.ref]
    near = put_coding(db, blobs, olga, CODING.replace('"look"', '"all"').replace("items = 12", "items = 20"))
    alike = [one for one in db.scalars(select(CodingItem).where(CodingItem.coding_id == 4)) if one.alike]
    assert near.progress.wanted == 40
    assert len(alike) == 2
    assert alike[0].alike == [alike[1].inputs["text"]]


def test_figures_follow_from_the_table(db: Session, olga: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares, intervals and α of two coders, per arm after the end: plain arithmetic gets all from the CSV."""
    code_all(db, "xenia")
    code_all(db, "zoe")
    found = results(db, olga, REF)
    assert found.figures is not None
    assert (found.figures.arms, found.figures.differences, found.figures.examples) == ([], [], [])
    assert "arm" not in export_codes(db, olga, REF).splitlines()[0].split(",")
    recompute(export_codes(db, olga, REF), found.figures)
    closed = close_coding(db, olga, REF).figures
    assert closed is not None
    assert [one.arm for one in closed.arms] == ["none", "prompt"]
    assert len(closed.differences) == 4
    recompute(whole := export_codes(db, olga, REF), closed)
    with monkeypatch.context() as few:
        few.setattr(coding_figures, "CHUNK", 3)  # codes that are read together
        assert export_codes(db, olga, REF) == whole
    trivial = next(one for one in closed.categories if one.name == "trivial")
    assert (trivial.share.value, trivial.most, trivial.any) == (0.5, 0, 12)
    assert {(one.category, one.votes, one.coders) for one in closed.examples} >= {("trivial", 1, 2)}


def test_figures_are_kept_as_codes_arrive(db: Session, blobs: Blobs, olga: Actor) -> None:
    """With few codes each brings new figures; a word that is said anew counts, and the one before it does not."""
    assert results(db, olga, REF).figures is None
    xenia = person(db, "xenia")
    item = next_to_code(db, xenia, REF)
    assert item is not None
    code_item(db, xenia, REF, item.id, ["trivial"])
    found = results(db, olga, REF).figures
    assert found is not None
    assert [one.share.value for one in found.categories] == [0.0, 1.0, 0.0, 0.0]
    assert found.categories[0].alpha.reason == "no item has two judgements"
    back = look_back(db, xenia, REF)
    assert back is not None
    assert (back.id, back.chosen) == (item.id, ("trivial",))
    code_item(db, xenia, REF, back.id, ["generic", "duplicate"], note="Twice.")
    found = results(db, olga, REF).figures
    assert found is not None
    assert [one.share.value for one in found.categories] == [1.0, 0.0, 0.0, 1.0]
    assert found.codes == 1
    assert "Twice." in export_codes(db, olga, REF)


def test_nobody_gets_an_item_twice_or_their_own(db: Session, blobs: Blobs, olga: Actor) -> None:
    """Two coders fill all places of each item; a third gets none; who wrote a text does not code it."""
    put_coding(db, blobs, olga, CODING.replace('"look"', '"open"') + 'people = "workers"\n')
    author = person(db, "writer1")
    own = sum(
        one.author_id == author.user_id for one in db.scalars(select(CodingItem).where(CodingItem.coding_id == 2))
    )
    assert own
    assert code_all(db, "writer1", "mood/open") + own == 12
    assert [code_all(db, name) for name in ("xenia", "yann", "zoe")] == [12, 12, 0]
    assert get_coding(db, olga, REF).progress.done == 24
    assert [one.ref for one in coding_offers(db, person(db, "zoe"))] == ["mood/open"]


def test_an_item_is_kept_for_its_coder_until_the_lease_ends(db: Session, olga: Actor) -> None:
    """Asking twice gives the same item; after the lease somebody else has it, and the late word is refused."""
    xenia, yann = person(db, "xenia"), person(db, "yann")
    first = next_to_code(db, xenia, REF)
    assert first is not None
    again = next_to_code(db, xenia, REF)
    assert again is not None
    assert again.id == first.id
    other = next_to_code(db, yann, REF)
    assert other is not None
    assert other.id != first.id
    code_item(db, yann, REF, other.id, [])
    later = now() + timedelta(minutes=31)
    with clock(lambda: later):
        taken = next_to_code(db, yann, REF)
        assert taken is not None
        assert taken.id == first.id
    with refusal(Conflict, "coding_lost"):
        code_item(db, xenia, REF, first.id, [])
    with pytest.raises(NotFound):
        code_item(db, xenia, REF, 9999, [])


def test_going_back_step_by_step(db: Session, olga: Actor) -> None:
    """From the newest code to the one before it, and before the first there is none."""
    xenia = person(db, "xenia")
    assert look_back(db, xenia, REF) is None
    code_all(db, "xenia", most=2)
    newest = look_back(db, xenia, REF)
    assert newest is not None
    before = look_back(db, xenia, REF, newest.id)
    assert before is not None
    assert before.id != newest.id
    assert look_back(db, xenia, REF, before.id) is None
    assert newest.mine == 2


def test_the_end_is_for_good(db: Session, olga: Actor) -> None:
    """Nothing is closed before anything was coded; after the end nobody codes, takes, or goes back."""
    with pytest.raises(Conflict, match="Nothing has been coded"):
        close_coding(db, olga, REF)
    code_all(db, "xenia", most=3)
    close_coding(db, olga, REF)
    with pytest.raises(Conflict, match="closed"):
        next_to_code(db, person(db, "xenia"), REF)
    with pytest.raises(Conflict, match="closed"):
        close_coding(db, olga, REF)
    assert list_codings(db, olga, "mood").codings[0].state == "closed"


def test_who_may_do_what(db: Session, blobs: Blobs, olga: Actor) -> None:
    """Experts code and see no figures; workers see nothing of it; only owners make, close and read."""
    xenia, rita = person(db, "xenia"), person(db, "rita")
    for verb in (results, close_coding, export_codes):
        with pytest.raises(Forbidden):
            verb(db, xenia, REF)
    with pytest.raises(Forbidden):
        next_to_code(db, rita, REF)
    with pytest.raises(Forbidden):
        get_coding(db, rita, REF)
    with pytest.raises(Forbidden):
        put_coding(db, blobs, xenia, CODING.replace('"look"', '"mine"'))
    assert list_codings(db, rita, "mood").codings == []
    code_all(db, "xenia", most=1)
    assert b'"arm"' not in export_person(db, xenia)


def test_what_is_wrong_is_said_at_its_place(db: Session, blobs: Blobs, olga: Actor) -> None:
    """Sources that are not there, too few items, bad categories, answers for everybody: all refused, nothing made."""
    bad = {
        'sources = ["rounds/1"]': [
            ('sources = ["rounds/9"]', "mood/9"),
            ('sources = ["data/none"]', "none"),
            ('sources = ["trials/none"]', "none"),
            ('sources = ["elsewhere"]', "is not data/NAME"),
            ("sources = []", "name at least one"),
            ('sources = ["data/test"]\npart = "justifications"', "no justifications"),
        ],
        "items = 12": [
            ('items = 12\ncategories = ["none"]', "not a category"),
            ('items = 12\nanswers = true\npeople = "workers"', "experts only"),
        ],
    }
    for before, tries in bad.items():
        for after, reason in tries:
            with pytest.raises(BadInput, match=reason):
                put_coding(db, blobs, olga, CODING.replace('"look"', '"bad"').replace(before, after))
    assert list_codings(db, olga, "mood").total == 1
    with pytest.raises(Conflict, match="'items' cannot change"):
        put_coding(db, blobs, olga, CODING.replace("items = 12", "items = 10"))
    assert put_coding(db, blobs, olga, CODING.replace("A look", "Another look")).title.startswith("Another")
    item = next_to_code(db, person(db, "xenia"), REF)
    assert item is not None
    with pytest.raises(BadInput, match="'funny' is not one of"):
        code_item(db, person(db, "xenia"), REF, item.id, ["funny"])


def test_a_small_source_gives_all_it_has(db: Session, blobs: Blobs, olga: Actor) -> None:
    """A hundred items are asked for by default; of a source with fewer all are drawn."""
    small = CODING.replace('"look"', '"small"').replace("rounds/1", "data/few").replace("items = 12\n", "")
    assert put_coding(db, blobs, olga, small).progress.items == 3


def test_what_is_taken_back_leaves_the_sample(db: Session, blobs: Blobs, olga: Actor) -> None:
    """A text that its writer takes back is not asked for, counted, quoted or exported any more, from that moment on."""
    whole = CODING.replace('"look"', '"all"').replace("items = 12", "items = 20")
    put_coding(db, blobs, olga, whole)
    ref, xenia = "mood/all", person(db, "xenia")
    near = next(one for one in db.scalars(select(CodingItem)) if one.alike and one.alike_attempts[0] is not None)
    held = next_to_code(db, xenia, ref)
    assert held is not None
    place = db.get_one(CodingPlace, held.id)
    shown = db.get_one(CodingItem, place.item_id)
    take_back(db, shown.attempt_id)
    with pytest.raises(Conflict, match="was taken back"):
        code_item(db, xenia, ref, held.id, [])
    assert (other := next_to_code(db, xenia, ref)) is not None
    assert other.id != held.id
    code_all(db, "zoe", ref)
    close_coding(db, olga, ref)
    found = results(db, olga, ref)
    assert found.coding.progress.items == 19
    assert found.figures is not None
    quoted = found.figures.examples[0].text
    gone = next(one for one in db.scalars(select(CodingItem)) if one.inputs["text"] == quoted)
    take_back(db, gone.attempt_id)
    after = results(db, olga, ref).figures
    assert after is not None
    assert quoted not in {one.text for one in after.examples}
    table = export_codes(db, olga, ref)
    assert quoted not in table
    assert shown.inputs["text"] not in table
    assert near.alike_attempts[0] not in {shown.attempt_id, None}


def test_one_category_at_a_time(db: Session, blobs: Blobs, olga: Actor) -> None:
    """Where an item is in one category only, two are refused; a data set is a source with its version pinned."""
    made = put_coding(
        db,
        blobs,
        olga,
        CODING.replace('"look"', '"one"').replace("rounds/1", "data/test") + "several = false\nanswers = true\n",
    )
    assert 'sources = ["data/test@1"]' in made.toml
    xenia = person(db, "xenia")
    item = next_to_code(db, xenia, "mood/one")
    assert item is not None
    assert item.answer in {"positive", "negative"}
    with pytest.raises(BadInput, match="one category"):
        code_item(db, xenia, "mood/one", item.id, ["trivial", "generic"])
    assert code_item(db, xenia, "mood/one", item.id, ["trivial"]).done == 1


def test_justifications_of_a_trial(db: Session, blobs: Blobs, olga: Actor) -> None:
    """As in the paper: the reasons that writers gave are coded, arm by arm; a simulated trial has no other texts."""
    arms = [
        (
            shipped_text(name),
            TrialArm(
                name,
                [TrialItem(f"{name}{at}", "w", None, justification=f"{name} because {at}") for at in range(9)],
                ArmFacts("USD", {}, "final", 0.0, 0.0, {}),
                "invalid",
            ),
        )
        for name in ("baseline", "justification")
    ]
    keep_simulated(db, blobs, olga, ("mood", "reasons"), arms, title="Reasons")
    text = CODING.replace('"look"', '"why"').replace("rounds/1", "trials/reasons")
    with pytest.raises(BadInput, match="simulated"):
        put_coding(db, blobs, olga, text)
    put_coding(db, blobs, olga, text + 'part = "justifications"\n')
    item = next_to_code(db, person(db, "xenia"), "mood/why")
    assert item is not None
    assert "because" in item.text
    code_all(db, "xenia", "mood/why")
    closed = close_coding(db, olga, "mood/why").figures
    assert closed is not None
    assert {one.arm: one.items for one in closed.arms} == {"baseline": 6, "justification": 6}


@pytest.mark.both_databases
@pytest.mark.parametrize("closed", [False, True])
def test_wrong_figures_are_repaired_and_reported(db: Session, blobs: Blobs, olga: Actor, closed: bool) -> None:
    """The check counts the codes again, of an open coding and of one that is closed for good."""
    for name in ("xenia", "yann"):
        code_all(db, name)
    if closed:
        close_coding(db, olga, REF)
    right = results(db, olga, REF).figures
    kind = CheckKind(coding_figures.KIND, refs_with_figures, coding_figures.check_coding)
    assert figures.check(db, blobs, OPERATOR, (), (), [kind]).faults == ()
    with transaction(db):
        row = db.scalars(select(CodingRow)).one()
        row.figures = {**(row.figures or {}), "codes": 7, "coders": 99}
    assert results(db, olga, REF).figures != right
    found = figures.check(db, blobs, OPERATOR, (), (), [kind])
    assert [(one.subject, one.kept["coders"], one.counted["coders"]) for one in found.faults] == [(REF, 99, 2)]
    shown = results(db, olga, REF).figures
    assert shown is not None
    assert right is not None
    assert replace(shown, at=right.at) == right
    assert figures.check(db, blobs, OPERATOR, (), (), [kind]).faults == ()


def test_figures_that_codes_have_outrun_are_brought_up_and_no_fault(db: Session, blobs: Blobs, olga: Actor) -> None:
    """So are those of texts that were taken back since."""
    code_all(db, "xenia")
    kind = CheckKind(coding_figures.KIND, refs_with_figures, coding_figures.check_coding)
    item = db.scalars(select(CodingItem).order_by(CodingItem.draw)).first()
    assert item is not None
    take_back(db, item.attempt_id)
    found = figures.check(db, blobs, OPERATOR, (), (), [kind])
    assert (found.checked, found.outrun, found.faults) == (1, 1, ())
    kept = results(db, olga, REF).figures
    assert kept is not None
    assert kept.items == 11
