"""Calls about the server itself.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from quintain.client.transport import Transport
from quintain.core.records.access import Status


class StatusCalls:
    """What `Client` can ask about status."""

    _transport: Transport

    def status(self) -> Status:
        """Say which version this is and whether all parts work."""
        return self._transport.read(Status, "GET", "/status")
