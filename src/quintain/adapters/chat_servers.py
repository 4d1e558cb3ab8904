"""Servers that speak OpenAI's interface, and in what they differ: what each calls otherwise, and what it does not take.

As their documentation says. A server that is not named is asked as most take it, and what it refuses is left out after
its first refusal; one that is named is asked right the first time, and a parameter that it would ignore is refused
before anything is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
CAPS = (MAX_TOKENS, MAX_COMPLETION_TOKENS)  # the names of the cap on a reply; newer endpoints take the second
Schema = Literal["json_schema", "grammar", "none"]


@dataclass(frozen=True, slots=True)
class ChatServer:
    """One kind of server. *cap* is its name of the cap on tokens, *untaken* the options of a manifest that it ignores.

    *url* is where it is, where that is the same for everybody. *schema* says how a shape is asked for, *most_logprobs*
    of how many tokens it tells the log-probability in a place (0: of none), *echoes* whether it tells those of a text
    that it is given. *more* goes into every request.
    """

    title: str
    url: str = ""
    cap: str = MAX_TOKENS
    untaken: tuple[str, ...] = ()
    warmest: float = 2.0
    most_stops: int = 4
    schema: Schema = "json_schema"
    most_logprobs: int = 20
    echoes: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


ANY = ChatServer("any server")
SERVERS: Mapping[str, ChatServer] = {
    "openai": ChatServer("OpenAI", "https://api.openai.com/v1", cap=MAX_COMPLETION_TOKENS),
    "anthropic": ChatServer(
        "Anthropic's compatible endpoint",
        "https://api.anthropic.com/v1",
        untaken=("seed", "reasoning_effort"),
        warmest=1.0,
        schema="none",
        most_logprobs=0,
    ),
    "google": ChatServer(
        "Google's compatible endpoint",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        most_logprobs=0,
    ),
    "vllm": ChatServer("vLLM", most_stops=64, echoes=True),
    "llama.cpp": ChatServer("llama.cpp", most_stops=64, untaken=("reasoning_effort",)),
    "ollama": ChatServer("Ollama", "http://localhost:11434/v1", most_stops=64),
    "tgi": ChatServer("Text Generation Inference", untaken=("reasoning_effort",), schema="grammar", most_logprobs=5),
    "openrouter": ChatServer("OpenRouter", "https://openrouter.ai/api/v1", more={"usage": {"include": True}}),
}


def server_of(options: Mapping[str, Any]) -> ChatServer:
    """Return the kind of server that the options of a manifest name, or one that is like most."""
    return SERVERS.get(str(options.get("server", "")), ANY)


def url_of(options: Mapping[str, Any]) -> str:
    """Return the address that is called: the manifest's, else the one that its server has for everybody."""
    return str(options.get("url") or server_of(options).url)


def shape_request(server: ChatServer, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what asks *server* for a reply of the shape *schema*; nothing where it takes none."""
    if server.schema == "none":
        return {}
    if server.schema == "grammar":
        return {"response_format": {"type": "json_object", "value": dict(schema)}}
    shape = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": shape}}
