"""Calls about writing: rounds (`task/number`), sessions by their key, attempts by their number.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from quintain.client.refs import ref_path
from quintain.client.transport import Transport
from quintain.core.records.collect import (
    DraftKept,
    Inspiration,
    Inspirations,
    MovingWords,
    Readiness,
    Verdict,
    WordEffect,
    WritingSession,
)


class WritingCalls:
    """What `Client` can ask about writing."""

    _transport: Transport

    def readiness(self, ref: str) -> Readiness:
        """Return what one has to do before writing in a round."""
        return self._transport.read(Readiness, "GET", f"{ref_path(ref, 'rounds')}/readiness")

    def choose(self, ref: str, kind: str) -> Readiness:
        """Answer a round's first page: `consent`, `warning` (read and accepted), `opt_out` or `opt_in`."""
        return self._transport.read(Readiness, "POST", f"{ref_path(ref, 'rounds')}/choices", json={"kind": kind})

    def begin_writing(self, ref: str) -> WritingSession:
        """Begin a writing session, or take up the one that lasts."""
        return self._transport.read(WritingSession, "POST", f"{ref_path(ref, 'rounds')}/sessions")

    def writing_session(self, key: str) -> WritingSession:
        """Return one of one's own writing sessions as it stands."""
        return self._transport.read(WritingSession, "GET", f"/sessions/{quote(key, safe='')}")

    def save_draft(self, key: str, inputs: Mapping[str, Any], target: Any = None) -> datetime | None:
        """Keep what has been typed so far, and give until when the prompt is held."""
        return self._transport.read(
            DraftKept, "PUT", f"/sessions/{quote(key, safe='')}/draft", json={"inputs": dict(inputs), "target": target}
        ).lease_until

    def end_writing(self, key: str) -> WritingSession:
        """End a writing session early; the attempts that were made are paid by their share."""
        return self._transport.read(WritingSession, "POST", f"/sessions/{quote(key, safe='')}/end")

    def confirm(self, attempt: int, yes: bool) -> Verdict:
        """Take down whether other people would give the answer aimed at."""
        return self._transport.read(Verdict, "POST", f"/attempts/{attempt}/confirm", json={"yes": yes})

    def decide(self, attempt: int, yes: bool) -> Verdict:
        """Note the writer's word on whether the model was fooled, where the round leaves it to them."""
        return self._transport.read(Verdict, "POST", f"/attempts/{attempt}/decide", json={"yes": yes})

    def add_notes(self, attempt: int, reason: str = "", *, tags: Iterable[str] = ()) -> Verdict:
        """Take down why the model failed, and which phenomena are in the text."""
        return self._transport.read(
            Verdict, "POST", f"/attempts/{attempt}/notes", json={"reason": reason, "tags": list(tags)}
        )

    def retract(self, attempt: int, reason: str = "") -> None:
        """Take one of one's own attempts back; it stays paid."""
        self._transport.ask("POST", f"/attempts/{attempt}/retract", json={"reason": reason})

    def moving_words(self, attempt: int) -> list[WordEffect]:
        """Return which words of one of one's own attempts moved the model, where the round's owner switched that on."""
        return self._transport.read(MovingWords, "GET", f"/attempts/{attempt}/words").words

    def inspiration(self, key: str, *, limit: int = 5) -> list[Inspiration]:
        """List what fooled the model before, written by others, where the round's owner switched that on."""
        return self._transport.read(
            Inspirations, "GET", f"/sessions/{quote(key, safe='')}/inspiration", params={"limit": limit}
        ).examples

    def practice(self, ref: str) -> WritingSession:
        """Return a session of the sandbox: it looks like a real one, has no key, and is stored nowhere."""
        return self._transport.read(WritingSession, "GET", f"{ref_path(ref, 'rounds')}/practice")

    def practise(
        self, ref: str, inputs: Mapping[str, Any], target: Any = None, *, prompt: int | None = None
    ) -> Verdict:
        """Try a text in the sandbox: the same checks and the same model, and nothing is stored."""
        return self._transport.read(
            Verdict,
            "POST",
            f"{ref_path(ref, 'rounds')}/practice",
            json={"inputs": dict(inputs), "target": target, "prompt": prompt},
        )
