"""How a chat model is asked, as everybody may read it: what a figure of it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quintain.adapters.chat_prompt import read_shots, turns_of
from quintain.adapters.chat_request import MOST_TOKENS
from quintain.adapters.chat_servers import server_of, url_of
from quintain.adapters.contract import Options

# What does not change an answer, is said apart, or is nobody else's.
UNSAID = frozenset(
    {
        "batch",
        "batch_poll",
        "batch_price",
        "budget",
        "concurrency",
        "few_shot",
        "messages",
        "model",
        "perturbations",
        "prompt",
        "requests_per_minute",
        "retries",
        "secret",
        "server",
        "show_url",
        "system",
        "timeout",
        "tokens_per_minute",
        "url",
    }
)


def public_request(folder: Path, options: Options) -> dict[str, Any]:
    """Return the conversation, the parameters, the examples shown and, where it is to be shown, the address."""
    system = [{"role": "system", "content": str(options["system"])}] if "system" in options else []
    usual = {"temperature": 0, "max_tokens": MOST_TOKENS, "read": "exact"}
    shown: dict[str, Any] = {
        "model": str(options["model"]),
        "messages": [*system, *map(dict, turns_of(options))],
        "parameters": usual | {name: value for name, value in options.items() if name not in UNSAID},
    }
    if options.get("server"):
        shown["server"] = server_of(options).title
    if options.get("show_url") is True:
        shown["url"] = url_of(options)
    few = options.get("few_shot")
    if isinstance(few, Mapping):
        shown["few_shot"] = {**few, "ids": [shot.id for shot in read_shots(folder)]}
    return shown
