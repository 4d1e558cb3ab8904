"""A language model that llama.cpp runs in this process, through the library xllamacpp; standard library besides.

The library brings llama.cpp's own server along. It listens on a socket in the private folder for temporary files and
nowhere else: the sandbox lets nothing open another kind, and what is asked over it here is only how a conversation is
written and how a text is cut into tokens. Answers are asked for by calls within the process.

Every model runs on one thread. What all prompts begin with is read once. Before each example the model is taken back to
exactly there, whatever was read since: had it kept what two examples happen to share, that would have been computed in
other portions than for either alone, and the last digits of an answer would hang on the order of the questions.
"""

from __future__ import annotations

import http.client
import json
import math
import socket
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quintain.core.jsontext import parse_json

FORCE = 1e6  # added to a token's score, so that it is drawn; its probability is told as it was before
SECONDS = 60.0
MARK = "\N{OBJECT REPLACEMENT CHARACTER}prompt\N{OBJECT REPLACEMENT CHARACTER}"


class LlamaModel:
    """A loaded GGUF file. *context* is the most tokens that a prompt and its answer may have together."""

    def __init__(self, file: Path, *, context: int, temperature: float = 0.0, seed: int = 0) -> None:
        import xllamacpp

        self._folder = tempfile.TemporaryDirectory(prefix="llama-")
        self._socket = f"{self._folder.name}/llama.sock"  # its ending says that it is a file
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(file)
        parameters.hostnames = [self._socket]
        parameters.n_threads_http = 1
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
        parameters.n_parallel = 1
        parameters.n_ctx = context
        parameters.cache_ram_mib = 0  # prompts of the past are kept by nobody: they would count as the model's memory
        parameters.warmup = False
        parameters.verbosity = 1  # errors only: what a model prints is limited
        try:
            self._server = xllamacpp.Server(parameters)
        except RuntimeError:
            raise ValueError(f"llama.cpp cannot load {file.name}; what it says of that stands above") from None
        self._sampling = {"temperature": temperature, "seed": seed}
        self._beginning = ""

    def conversation(self, content: str, system: str) -> tuple[str, str]:
        """Return what stands around *content* where it is what a user says, as the file's own template writes it.

        *content* has MARK where what is asked about stands. What follows it ends where the model's turn begins.
        """
        messages = [{"role": "system", "content": system}] if system else []
        written = self._post("/apply-template", {"messages": [*messages, {"role": "user", "content": content}]})
        before, mark, after = str(written["prompt"]).partition(MARK)
        if not mark:
            raise ValueError("the chat template of the file leaves out what the user says")
        return before, after

    def begin_with(self, beginning: str) -> None:
        """Read what all prompts begin with, so that it need not be read again; others are read as a whole."""
        self._beginning = beginning.rstrip()
        if self._beginning:
            self._complete({"prompt": self._beginning, "max_tokens": 0, "cache_prompt": False})

    def tokens(self, text: str) -> list[int]:
        """Cut *text* into tokens, as a continuation of something."""
        return list(self._post("/tokenize", {"content": text})["tokens"])

    def write(self, prompt: str, most: int) -> str:
        """Continue *prompt* until the model ends its turn, by at most so many tokens."""
        request = {"prompt": prompt, "max_tokens": most, "cache_prompt": self._go_back(prompt), **self._sampling}
        return str(self._complete(request)["text"])

    def log_probabilities(self, prompt: str, continuations: Sequence[Sequence[int]]) -> list[float]:
        """Return the logarithm of the probability that *prompt* goes on with each of these tokens, one after the other.

        It is what the model itself says, before any sampling. What several of them begin with is asked once.
        """
        logs: dict[tuple[int, ...], float] = {}
        for tokens in continuations:
            for length in range(1, len(tokens) + 1):
                start = tuple(tokens[:length])
                if start not in logs:
                    logs[start] = self._log_probability([prompt, *start[:-1]], start[-1], afresh=not logs)
        return [
            math.fsum(logs[tuple(tokens[:length])] for length in range(1, len(tokens) + 1)) for tokens in continuations
        ]

    def _log_probability(self, prompt: list[Any], token: int, *, afresh: bool) -> float:
        forced = {"max_tokens": 1, "temperature": 0, "logprobs": 1, "logit_bias": [[token, FORCE]]}
        reused = not afresh or self._go_back(prompt[0])
        choice = self._complete({"prompt": prompt, "cache_prompt": reused, **forced})
        drawn = choice["logprobs"]["content"][0]
        if drawn["id"] != token:
            raise ValueError(f"llama.cpp told the probability of token {drawn['id']}, not of {token}")
        return float(drawn["logprob"])

    def _go_back(self, prompt: str) -> bool:
        """Take the model back to where all prompts begin; False where this one does not begin there."""
        if not self._beginning or not prompt.startswith(self._beginning):
            return False
        self._complete({"prompt": self._beginning, "max_tokens": 0, "cache_prompt": True})
        return True

    def _complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return _choice(self._server.handle_completions(dict(request)))

    def _post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        connection = _SocketConnection(self._socket)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            reply: Mapping[str, Any] = parse_json(connection.getresponse().read(), halves=True)
        finally:
            connection.close()
        _raise_error(reply)
        return reply


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a socket that is a file."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._path)


def _choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    _raise_error(reply)
    choice: Mapping[str, Any] = reply["choices"][0]
    return choice


def _raise_error(reply: Mapping[str, Any]) -> None:
    if "error" in reply:
        error = reply["error"]
        raise ValueError(error.get("message", str(error)) if isinstance(error, dict) else str(error))
