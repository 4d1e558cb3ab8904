"""A small real mail server for tests: it speaks enough SMTP to take messages, or to refuse them."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """Listens on the loopback interface and keeps what it is given; refuses addresses that contain 'refused'."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.messages: list[EmailMessage] = []

    @property
    def url(self) -> str:
        """The address for QUINTAIN_SMTP_URL."""
        return f"smtp://127.0.0.1:{self.server_address[1]}"


class _Conversation(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        """Answer line by line until the client quits."""
        self._say("220 test")
        while line := self.rfile.readline().decode().strip():
            word = line[:4].upper()
            if word == "EHLO":
                self._say("250 test")
            elif word == "DATA":
                self._say("354 go on")
                self.server.messages.append(self._read_message())
                self._say("250 taken")
            elif word == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("550 refused" if word == "RCPT" and "refused" in line else "250 fine")

    def _read_message(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return message_from_bytes(b"".join(lines), policy=policy.default)  # type: ignore[return-value]  # by the policy

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Run a mail server for the time of the block."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
