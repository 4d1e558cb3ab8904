"""The policy of a validation as TOML: reading it with every fault named, and writing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintain.core.errors import Fault
from quintain.core.spec import options_of, plain, read
from quintain.core.toml import parse_toml
from quintain.core.validation import ValidationPolicy
from quintain.labels.contract import AGGREGATORS
from quintain.labels.writer_vote import WriterVote
from quintain.tasks.writing import dump_toml

MINIMUM = ValidationPolicy().minimum
WRITER_VOTE = WriterVote.name
DRAWN = WriterVote().sample


def stored_policy(text: str) -> ValidationPolicy:
    """Read a policy that was taken before; settings that were let through then and contradict each other are mended.

    A validation must be there to be looked at, whatever an earlier version took for a policy.
    """
    data = parse_toml(text)
    adaptive = data.get("adaptive")
    if isinstance(adaptive, Mapping) and adaptive.get("least", 0) < (minimum := data.get("minimum", MINIMUM)):
        data = {**data, "adaptive": {**adaptive, "least": minimum}}
    return policy_of(data)


def parse_policy(text: str, *, file: str | None = None) -> ValidationPolicy:
    r"""Make a policy of the TOML *text*, or raise BadInput with every fault in it; an empty text is the default.

    >>> parse_policy("page_size = 20\n[gold]\nrate = 0.05").gold.rate
    0.05
    """
    return policy_of(parse_toml(text, file=file), file=file)


def policy_of(data: Mapping[str, Any], *, file: str | None = None) -> ValidationPolicy:
    """Make a policy of plain data, as TOML or a page gives it; `adaptive.least` is `minimum` unless it is given.

    The method `writer-vote` of files is a majority here, with the writer's vote and at most four others.
    """
    if data.get("method") == WRITER_VOTE:
        data = {"setting": DRAWN, **data, "method": "majority", "writer": True}
    adaptive, minimum = data.get("adaptive"), data.get("minimum")
    if isinstance(adaptive, Mapping) and options_of(ValidationPolicy)["minimum"].kind.fits(minimum):
        data = {**data, "adaptive": {"least": minimum, **adaptive}}
    return read(ValidationPolicy, data, file=file, also=_method)


def _method(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Ask for a method that there is: aggregators can be added, so that no specification lists them."""
    known, method = AGGREGATORS.names(), values.get("method")
    if method is not None and method not in known:
        yield Fault("is '{method}', not one of {known}", method=method, known=", ".join(known), field="method")


def dump_policy(policy: ValidationPolicy) -> str:
    """Write *policy* as TOML; reading it again gives the same policy."""
    return dump_toml(plain(policy, whole=True))
