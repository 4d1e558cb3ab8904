"""E-mail over SMTP, for those who set QUINTAIN_SMTP_URL."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import unquote, urlsplit

from quintain.core.errors import BadInput, Unavailable
from quintain.core.escaping import visible

TIMEOUT_S = 15


@dataclass(frozen=True, slots=True)
class Mail:
    """Where e-mail is handed over (`smtp://…` or `smtps://…`; empty sends none), and who it is from."""

    url: str = ""
    sender: str = "quintain@localhost"

    @property
    def enabled(self) -> bool:
        """Whether e-mail can be sent at all."""
        return bool(self.url)


def send(mail: Mail, to: str, subject: str, text: str) -> None:
    """Send one message; do nothing where mail is off.

    Raise BadInput where the server refuses the address *to*, Unavailable where it takes no mail from us at all.
    """
    if not mail.enabled:
        return
    message = EmailMessage()
    message["From"] = mail.sender
    message["To"] = to
    message["Subject"] = " ".join(visible(subject).split())
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=mail.sender.rpartition("@")[2] or None)
    message.set_content(visible(text))
    try:
        with _open(mail.url) as server:
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        raise BadInput("The mail server refuses the address {to}.", to=to, remedy="Correct it.") from error
    except (OSError, smtplib.SMTPException) as error:
        host = urlsplit(mail.url).hostname
        raise Unavailable(
            "The mail server {host} did not take a message: {error}.",
            host=host,
            error=error,
            remedy="Check QUINTAIN_SMTP_URL.",
            page="Tell the operator.",
        ) from error


def _open(url: str) -> smtplib.SMTP:
    parts = urlsplit(url)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise Unavailable("QUINTAIN_SMTP_URL is not an address.", remedy="Use smtp://user:password@host:port.")
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
