"""Running the application: a socket of our own, so that a taken port is explained, and a calm end."""

from __future__ import annotations

import errno
import gc
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from quintain.core.errors import Conflict, Unavailable
from quintain.web.peers import trusted_proxies

GRACE_S = 10
SWITCH_S = 0.001
# Longer than clients and proxies keep a connection that nothing comes over: usually 5 to 60 seconds. Where the server
# gives up first, or at the same moment, it closes connections on which a request is on its way.
KEEP_ALIVE_S = 75


class Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; streams that would go on for hours hear of it."""
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.stopping = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def bind(host: str, port: int) -> socket.socket:
    """Take *port* on *host*, or say who is in the way and what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Listening at once makes a second server on this port fail now, not when it first answers.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise _explain(error, host, port) from error
    return listener


def configure(app: FastAPI) -> uvicorn.Config:
    """Return how *app* is served."""
    proxies = trusted_proxies(app.state.workspace.settings.trusted_proxies)
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # our own middleware writes that line, with the request's id
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,  # our setting alone decides, not the variable that uvicorn would look at
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
    )


def serve(app: FastAPI, listener: socket.socket, *, ready: Callable[[], None]) -> None:
    """Serve *app* on *listener* until the process is asked to stop; requests in flight are finished first."""
    config = configure(app)
    _prepare_process()
    Server(config, ready).run(sockets=[listener])


def _prepare_process() -> None:
    """Set Python up for many short requests at once: a process that serves does nothing else."""
    # A thread that comes back from the database waits this long for one that computes. The 5 ms that Python begins
    # with add up over the dozen questions of a request.
    sys.setswitchinterval(SWITCH_S)
    # What was imported stays. Looking through all of it for garbage now and then would hold every request up.
    gc.collect()
    gc.freeze()


def _explain(error: OSError, host: str, port: int) -> Conflict | Unavailable:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            "Port {port} on {host} is taken, perhaps by another Quintain.",
            port=port,
            host=host,
            other=port + 1 if port < 65535 else 8000,
            remedy="Stop that one, or choose another port: --port {other}.",
        )
    if error.errno == errno.EACCES:
        return Unavailable("Port {port} needs rights that you do not have.", port=port, remedy="Choose one above 1023.")
    return Unavailable(
        "Cannot listen on {host}, port {port}: {strerror}.",
        host=host,
        port=port,
        strerror=error.strerror,
        remedy="Check --host and --port.",
    )
