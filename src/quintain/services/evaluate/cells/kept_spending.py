"""Budgets outside a workspace: one folder keeps what every call took, and they hold over all runs that use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quintain.adapters.contract import Options, Outside
from quintain.adapters.reply_store import spent_below
from quintain.core.hashing import content_id
from quintain.services.evaluate.cells.estimate import budgets_of

PREFIX = "kept"  # how such runs are named, which no worker names its own


def within_budgets(options: Options, outside: Outside, spent: float = 0.0) -> Outside:
    """Return *outside* for one run of the model with *options*, with what earlier ones have left of its budgets.

    *spent* is what is known of earlier runs where none of their calls are kept. A model with other options is another
    one; one with a higher budget is the same.
    """
    if outside.budget is not None:
        return outside
    shared = f"{PREFIX}:{content_id(str(options.get('secret', '')))}:"
    run = f"{shared}{content_id(_lasting(options))}"
    left = [
        max(limit - max(spent, spent_below(outside.cache, shared if with_key else run)), 0.0)
        for limit, with_key in budgets_of(options, outside)
    ]
    return replace(outside, run=outside.run or run, budget=min(left) if left else None)


def _lasting(options: Options) -> Mapping[str, Any]:
    return {name: value for name, value in options.items() if name != "budget"}
