"""An endpoint on loopback, whose answers a test decides and which logs every request that it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]
Respond = Callable[[str, Any, dict[str, str]], Answer]


class Server:
    """A real HTTP server whose answers a test decides; it remembers what it was asked, and what it answered.

    A status of 0 closes the connection without a reply.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, dict[str, str]]] = []
        self.statuses: list[int] = []
        self.respond: Respond = lambda path, body, headers: ok({})
        self.busy = self.most_busy = 0
        lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                with lock:
                    server.busy += 1
                    server.most_busy = max(server.most_busy, server.busy)
                sent = self.rfile.read(int(self.headers["content-length"]))
                body = json.loads(sent) if sent[:1] == b"{" else sent
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.calls.append((self.path, body, headers))
                status, given, content = server.respond(self.path, body, headers)
                with lock:
                    server.busy -= 1
                    server.statuses.append(status)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {"content-length": str(len(content)), **given}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        self._http = _ManyAtOnce(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop."""
        self._http.shutdown()
        self._http.server_close()


class _ManyAtOnce(ThreadingHTTPServer):
    """A server that hundreds may call in the same moment."""

    request_queue_size = 512


def ok(body: Any) -> Answer:
    """Answer with JSON."""
    return 200, {"content-type": "application/json"}, json.dumps(body).encode()


def completion(content: Any, usage: tuple[int, int] | None = (10, 1), **choice: Any) -> Answer:
    """Answer as a chat endpoint does; without *usage* it does not say what it took."""
    tokens = {} if usage is None else {"usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]}}
    return ok({"choices": [{"message": {"role": "assistant", "content": content}, **choice}], **tokens})


def refusal(status: int, message: str, **more: Any) -> Answer:
    """Refuse in the words of OpenAI's interface."""
    said = {"error": {"message": message, **more}}
    return status, {"content-type": "application/json"}, json.dumps(said).encode()
