"""The client's calls for those who write: sessions, attempts, helps, the sandbox, one's own work and pay."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from quintain.client.refs import place
from quintain.client.transport import Transport
from quintain.client.writing_shapes import (
    Earning,
    Inspiration,
    OwnAttempt,
    Readiness,
    Verdict,
    WordEffect,
    WritingSession,
)


class WritingCalls:
    """What `Client` can do in rounds (`task/number`) and writing sessions (by their key)."""

    _transport: Transport

    def readiness(self, ref: str) -> Readiness:
        """Say what one has to do before writing in a round."""
        return Readiness.read(self._transport.ask("GET", f"{place(ref, 'rounds')}/readiness"))

    def choose(self, ref: str, kind: str) -> Readiness:
        """Say `consent`, `warning` (read and accepted), `opt_out` or `opt_in` to a round."""
        return Readiness.read(self._transport.ask("POST", f"{place(ref, 'rounds')}/choices", json={"kind": kind}))

    def begin_writing(self, ref: str) -> WritingSession:
        """Begin a writing session, or take up the one that lasts."""
        return WritingSession.read(self._transport.ask("POST", f"{place(ref, 'rounds')}/sessions"))

    def writing_session(self, key: str) -> WritingSession:
        """Give one of one's own writing sessions as it stands."""
        return WritingSession.read(self._transport.ask("GET", f"/sessions/{key}"))

    def write(self, key: str, inputs: Mapping[str, Any], target: Any = None, *, token: str | None = None) -> Verdict:
        """Submit a text; the model answers at once. Sending the same *token* again gives the first verdict again."""
        body = {"inputs": dict(inputs), "target": target, "token": token or uuid.uuid4().hex}
        return Verdict.read(self._transport.ask("POST", f"/sessions/{key}/attempts", json=body))

    def save_draft(self, key: str, inputs: Mapping[str, Any], target: Any = None) -> datetime | None:
        """Keep what has been typed so far, and give until when the prompt is held."""
        body = {"inputs": dict(inputs), "target": target}
        until = self._transport.ask("PUT", f"/sessions/{key}/draft", json=body)["lease_until"]
        return datetime.fromisoformat(until) if until else None

    def end_writing(self, key: str) -> WritingSession:
        """End a writing session early; the attempts that were made are paid by their share."""
        return WritingSession.read(self._transport.ask("POST", f"/sessions/{key}/end"))

    def confirm(self, attempt: int, yes: bool) -> Verdict:
        """Say whether other people would give the answer aimed at."""
        return Verdict.read(self._transport.ask("POST", f"/attempts/{attempt}/confirm", json={"yes": yes}))

    def decide(self, attempt: int, yes: bool) -> Verdict:
        """Say, where the round leaves it to the writer, whether the model was fooled."""
        return Verdict.read(self._transport.ask("POST", f"/attempts/{attempt}/decide", json={"yes": yes}))

    def add_notes(self, attempt: int, *, reason: str = "", tags: Sequence[str] = ()) -> Verdict:
        """Say why the model failed, and which phenomena are in the text."""
        body = {"reason": reason, "tags": list(tags)}
        return Verdict.read(self._transport.ask("POST", f"/attempts/{attempt}/notes", json=body))

    def retract(self, attempt: int, reason: str = "") -> None:
        """Take one of one's own attempts back; it stays paid."""
        self._transport.ask("POST", f"/attempts/{attempt}/retract", json={"reason": reason})

    def moving_words(self, attempt: int) -> list[WordEffect]:
        """Say which words of one of one's own attempts moved the model, where the owner switched that on."""
        return [WordEffect.read(one) for one in self._transport.ask("GET", f"/attempts/{attempt}/words")["words"]]

    def inspiration(self, key: str, *, limit: int = 5) -> list[Inspiration]:
        """List what fooled the model before, written by others, where the owner switched that on."""
        found = self._transport.ask("GET", f"/sessions/{key}/inspiration", params={"limit": limit})
        return [Inspiration.read(one) for one in found["examples"]]

    def practice(self, ref: str) -> WritingSession:
        """Give a session of the sandbox: it looks like a real one, and is stored nowhere."""
        return WritingSession.read(self._transport.ask("GET", f"{place(ref, 'rounds')}/practice"))

    def practise(
        self, ref: str, inputs: Mapping[str, Any], target: Any = None, *, prompt: int | None = None
    ) -> Verdict:
        """Try a text in the sandbox; *prompt* is the id of the prompt that `practice` gave."""
        body = {"inputs": dict(inputs), "target": target, "prompt": prompt}
        return Verdict.read(self._transport.ask("POST", f"{place(ref, 'rounds')}/practice", json=body))

    def my_attempts(self, *, limit: int = 100) -> list[OwnAttempt]:
        """List one's own attempts, newest first."""
        found = self._transport.ask("GET", "/me/attempts", params={"limit": limit})
        return [OwnAttempt.read(one) for one in found["attempts"]]

    def my_earnings(self, *, limit: int = 100) -> list[Earning]:
        """List what one earned, newest first."""
        found = self._transport.ask("GET", "/me/earnings", params={"limit": limit})
        return [Earning.read(one) for one in found["earnings"]]
