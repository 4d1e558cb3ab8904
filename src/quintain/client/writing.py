"""The client's call for a text: it makes up the token that keeps a repeated one from counting twice."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from quintain.client.calls.writing import WritingCalls
from quintain.core.records.collect import Verdict


class WritingClient(WritingCalls):
    """What `Client` can do in rounds (`task/number`) and writing sessions (by their key)."""

    def write(
        self,
        key: str,
        inputs: Mapping[str, Any],
        target: Any = None,
        *,
        justification: str = "",
        of_type: str = "",
        token: str | None = None,
    ) -> Verdict:
        """Submit a text; the model answers at once. Sending the same *token* again gives the first verdict again."""
        body = {
            "inputs": dict(inputs),
            "target": target,
            "justification": justification,
            "type": of_type,
            "token": token or uuid.uuid4().hex,
        }
        return self._transport.read(Verdict, "POST", f"/sessions/{quote(key, safe='')}/attempts", json=body)
