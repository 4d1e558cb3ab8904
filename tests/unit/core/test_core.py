"""The words of the domain: errors that name places, hashes that name content, people who hold roles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound, NotSignedIn, QuintainError, TooMany
from quintain.core.example import Example
from quintain.core.hashing import canonical_json, content_id
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Grant, RoleName
from quintain.core.registry import Registry
from quintain.services.access.permissions import (
    require_admin,
    require_owner,
    require_role,
    require_signed_in,
    require_user,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_a_fault_names_its_place() -> None:
    """File, row and field come before the reason; what is not known is left out."""
    assert str(Fault("is empty", file="a.csv", row=3, field="text")) == "a.csv, row 3, field 'text': is empty"
    assert str(Fault("is empty", row=0)) == "row 0: is empty"
    assert str(Fault("is empty")) == "is empty"
    assert Fault("x", row=1).as_dict() == {"file": None, "row": 1, "field": None, "reason": "x"}


def test_errors_say_what_to_do() -> None:
    """The remedy follows the message; bad input lists its faults and how many there were in all."""
    assert str(Conflict("It is there.", remedy="Remove it.")) == "It is there. Remove it."
    error = BadInput(faults=[Fault("a"), Fault("b")], total=7)
    assert (str(error), error.total, len(error.faults)) == ("a\nb", 7, 2)
    assert TooMany("Wait.", retry_after=3).retry_after == 3
    assert issubclass(BadInput, QuintainError)


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    """The same content has the same id, however its keys were entered."""
    turned = dict(reversed(value.items()))
    assert canonical_json(value) == canonical_json(turned)
    assert content_id(value) == content_id(turned)
    assert len(content_id(value)) == 32


@given(st.text(), st.text())
def test_other_content_has_another_id(one: str, other: str) -> None:
    """Two examples share an id exactly when their inputs are the same; answer and tags do not count."""
    first, second = Example({"text": one}), Example({"text": other}, answer="positive", tags=("x",))
    assert (first.id == second.id) == (one == other)


def test_roles_hold_everywhere_or_on_one_task() -> None:
    """A global role counts on every task, a task's role there alone, and an admin may do all."""
    actor = Actor(1, "olga", frozenset({Grant(RoleName.OWNER, "nli"), Grant(RoleName.WORKER)}))
    assert actor.has(RoleName.OWNER, "nli")
    assert not actor.has(RoleName.OWNER, "other")
    assert not actor.has(RoleName.OWNER)
    assert actor.has(RoleName.WORKER, "other")
    assert Actor(2, "ada", frozenset({Grant(RoleName.ADMIN)})).has(RoleName.OWNER, "nli")
    assert OPERATOR.has(RoleName.EXPERT)
    assert not ANONYMOUS.has(RoleName.WORKER)


def test_an_admin_of_one_task_is_no_admin() -> None:
    """Only a role held everywhere opens everything."""
    assert not Actor(1, "x", frozenset({Grant(RoleName.ADMIN, "nli")})).is_admin


def test_permissions_name_what_is_missing() -> None:
    """Strangers are asked to sign in, others told which role they lack, and the operator has no account."""
    worker = Actor(1, "wilma", frozenset({Grant(RoleName.WORKER)}))
    for check in (require_signed_in, require_admin, require_user):
        with pytest.raises(NotSignedIn):
            check(ANONYMOUS)
    with pytest.raises(Forbidden, match="owner of task 'nli', which wilma does not have"):
        require_owner(worker, "nli")
    with pytest.raises(Forbidden, match="builder or expert"):
        require_role(worker, RoleName.BUILDER, RoleName.EXPERT)
    with pytest.raises(Forbidden, match="wilma is not one"):
        require_admin(worker)
    with pytest.raises(Forbidden, match="operator has none"):
        require_user(OPERATOR)
    assert require_user(worker) == 1
    require_role(worker, RoleName.WORKER, task="nli")
    require_admin(OPERATOR)


def test_a_registry_refuses_the_second_and_lists_the_known() -> None:
    """Two members of one name are a conflict; an unknown name is answered with those that there are."""
    registry: Registry[int] = Registry("number", package="quintain.core", group="quintain.tests.none")
    registry.register("two")(2)
    registry.register("one")(1)
    with pytest.raises(Conflict, match="two numbers called 'one'"):
        registry.register("one")(3)
    assert list(registry.items()) == [("one", 1), ("two", 2)]
    assert "one" in registry
    assert "three" not in registry
    with pytest.raises(NotFound, match=r"'three'.*Known: one, two"):
        registry.get("three")
