"""A small real mail server for tests: it speaks enough SMTP to take messages, or to fail as mail servers do.

What becomes of a message stands in the address: `refused@…` gets 550 after RCPT, `later@…` 450, `spam@…` 554 after
DATA, `full@…` 452 there, `cut@…` loses the connection after DATA, `closing@…` 421 after RCPT. With *says*, a word of
SMTP such as EHLO or MAIL gets that answer, whoever sends it.
"""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

REPLIES = {"refused": "550 5.1.1 refused", "later": "450 4.2.0 greylisted", "closing": "421 4.3.2 going away"}


class MailServer(socketserver.ThreadingTCPServer):
    """Listens on the loopback interface and keeps what it is given."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.messages: list[EmailMessage] = []
        self.tried: list[str] = []  # every address that somebody wanted to write to
        self.says: dict[str, str] = {}

    @property
    def url(self) -> str:
        """The address for QUINTAIN_SMTP_URL."""
        return f"smtp://127.0.0.1:{self.server_address[1]}"


class _Conversation(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        """Answer line by line until the client quits."""
        to = ""
        self._say("220 test")
        while line := self.rfile.readline().decode().strip():
            word = line[:4].upper()
            if word in self.server.says:
                self._say(self.server.says[word])
            elif word == "EHLO":
                to = ""
                self._say("250 test")
            elif word == "DATA":
                self._say("354 go on")
                message = self._read_message()
                if to.startswith("cut"):
                    return
                if to.startswith(("spam", "full")):
                    self._say("554 5.7.1 looks like spam" if to.startswith("spam") else "452 4.3.1 no room")
                    continue
                self.server.messages.append(message)
                self._say("250 taken")
            elif word == "QUIT":
                self._say("221 bye")
                return
            elif word == "RCPT":
                to = line.partition("<")[2].rstrip(">")
                self.server.tried.append(to)
                self._say(REPLIES.get(to.partition("@")[0], "250 fine"))
            else:
                self._say("250 fine")

    def _read_message(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
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
