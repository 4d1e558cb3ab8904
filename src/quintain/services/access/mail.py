"""E-mail over SMTP, for those who set QUINTAIN_SMTP_URL: one message at a time, and who is to blame when it fails."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTPUTF8
from email.utils import formatdate, make_msgid, parseaddr
from urllib.parse import unquote, urlsplit

from quintain.core.errors import BadInput, Unavailable
from quintain.core.escaping import visible
from quintain.core.mail_addresses import wire_address
from quintain.core.untrusted import storable

TIMEOUT_S = 15
PERMANENT = 500  # codes from here on are said to be final
CLOSING = 421  # the server is going away, whatever it was asked
ABOUT_MESSAGE = {501, 552, 553, 555}  # what a server says of a sender when it means the message, or its characters
REPLY_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Mail:
    """Where e-mail is handed over (`smtp://…` or `smtps://…`; empty sends none), and who it is from."""

    url: str = ""
    sender: str = "quintain@localhost"

    @property
    def enabled(self) -> bool:
        """Whether e-mail can be sent at all."""
        return bool(self.url)


class MessageRefused(BadInput):
    """One message cannot be sent; others can. *final* says that the same message would be refused again."""

    final: bool = False


class ServerDown(Unavailable):
    """No mail can be handed over now. *begun* says that the server had taken a part of this message by then."""

    begun: bool = False


def send(mail: Mail, to: str, subject: str, text: str) -> None:
    """Send one message; do nothing where mail is off.

    Raise MessageRefused where it is this message that cannot be sent, ServerDown where the server takes none.
    """
    if not mail.enabled:
        return
    message = _written(mail, wire_address(to), subject, text)
    with _open(mail.url) as server:
        _hand_over(server, mail, message, wire_address(to))


def _written(mail: Mail, to: str, subject: str, text: str) -> EmailMessage:
    """Write the message, and try whether it can be put on the wire."""
    message = EmailMessage()
    try:
        message["From"] = mail.sender
        message["To"] = to
        message["Subject"] = " ".join(visible(storable(subject)).split())
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=parseaddr(mail.sender)[1].rpartition("@")[2] or None)
        message.set_content(visible(storable(text)))
        message.as_bytes(policy=SMTPUTF8)
    except Exception as error:  # the library's parser falls over what it does not know, each time with another error
        raise _refusal(True, f"{type(error).__name__}: {error}") from error
    return message


def _hand_over(server: smtplib.SMTP, mail: Mail, message: EmailMessage, to: str) -> None:
    try:
        server.send_message(message, to_addrs=[to])
    except smtplib.SMTPNotSupportedError as error:
        refused = MessageRefused("The mail server takes only addresses of plain letters (ASCII).")
        refused.final = True
        raise refused from error
    except smtplib.SMTPRecipientsRefused as error:
        code, reply = next(iter(error.recipients.values()))
        raise _verdict(mail, code, reply) from error
    except smtplib.SMTPSenderRefused as error:
        if error.smtp_code in ABOUT_MESSAGE:
            raise _verdict(mail, error.smtp_code, error.smtp_error) from error
        raise _down(mail, f"{error.smtp_code} {_reply_text(error.smtp_error)}") from error
    except smtplib.SMTPDataError as error:
        raise _verdict(mail, error.smtp_code, error.smtp_error) from error
    except (OSError, smtplib.SMTPException) as error:  # timeouts, and a connection that was cut
        raise _down(mail, f"{type(error).__name__}: {error}", begun=True) from error
    except Exception as error:  # what only shows when the message is written for this server
        raise _refusal(True, f"{type(error).__name__}: {error}") from error


def _verdict(mail: Mail, code: int, reply: bytes | str) -> MessageRefused | ServerDown:
    """Return whom a reply is about: 421 is the server going away, everything else is this message."""
    if code == CLOSING:
        return _down(mail, f"{code} {_reply_text(reply)}", begun=True)
    return _refusal(code >= PERMANENT, f"{code} {_reply_text(reply)}")


def _refusal(final: bool, reason: str) -> MessageRefused:
    refused = MessageRefused("This message is refused: {reason}", reason=storable(reason, REPLY_CHARACTERS))
    refused.final = final
    return refused


def _down(mail: Mail, reason: str, *, begun: bool = False) -> ServerDown:
    down = ServerDown(
        "The mail server {host} did not take a message: {error}.",
        host=urlsplit(mail.url).hostname,
        error=storable(reason, REPLY_CHARACTERS).rstrip("."),
        remedy="Check QUINTAIN_SMTP_URL.",
        page="Tell the operator.",
    )
    down.begun = begun
    return down


def _reply_text(reply: bytes | str) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return " ".join(text.split())


@contextmanager
def _open(url: str) -> Iterator[smtplib.SMTP]:
    """Connect to the server and sign in; how the connection ends afterwards changes nothing about what was taken."""
    try:
        server = _connected(url)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise _down(Mail(url), f"{type(error).__name__}: {error}") from error
    try:
        yield server
    finally:
        with suppress(OSError, smtplib.SMTPException):
            server.quit()
        server.close()


def _connected(url: str) -> smtplib.SMTP:
    parts = urlsplit(url)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ServerDown("QUINTAIN_SMTP_URL is not an address.", remedy="Use smtp://user:password@host:port.")
    context = ssl.create_default_context()
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(parts.hostname, parts.port or 465, timeout=TIMEOUT_S, context=context)
    else:
        server = smtplib.SMTP(parts.hostname, parts.port or 25, timeout=TIMEOUT_S)
    try:
        server.ehlo()
        if parts.scheme == "smtp" and server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server
