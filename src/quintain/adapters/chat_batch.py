"""Asking by a provider's batch interface: a file of questions goes up, and one of replies comes back within a day.

Slower and cheaper. Which batch a set of questions went up in is kept, so that a run that broke off waits for the same
one: nothing goes up, and is paid for, twice. Whoever asks about a few examples only is answered by calls, as ever.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quintain.adapters.chat_asking import Chat, as_words
from quintain.adapters.chat_reply import ChatReply, read_reply
from quintain.adapters.chat_request import written
from quintain.adapters.endpoint_calls import EndpointCaller
from quintain.adapters.ledger import CallSize, Ledger, TokenUse
from quintain.adapters.reply_store import ReplyStore
from quintain.adapters.wire import Answered, Unanswered, Wire
from quintain.core.errors import BadInput, Conflict, Forbidden, Unavailable
from quintain.core.hashing import content_id
from quintain.core.untrusted import Bounds, read_json

FEWEST = 20  # questions that go up in a batch
MOST_IN_ONE = 50_000
PATH = "/v1/chat/completions"
BOUNDARY = "quintain-batch-7d1f"
LARGEST = 1 << 30  # bytes of a file of replies
ANSWER = Bounds(size=4 << 20, text=1 << 20, elements=100_000)
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
LONGEST_WAIT = 600.0  # seconds for one request: files are large
PATIENCE = 5  # times that a look at a batch may fail in a row


async def fetch_batch(caller: EndpointCaller, chat: Chat, examples: Sequence[Mapping[str, Any]]) -> None:
    """Ask in a batch what is not kept yet about *examples*, and keep the replies; nothing where it is little."""
    store = chat.store
    if store is None:
        raise Conflict("Batches need a place where replies are kept.", remedy="Leave `batch` out.")
    questions: dict[str, BatchLine] = {}
    for inputs in examples:
        messages = chat.prompt.messages(inputs)
        body, size = written(messages), len(as_words(messages).encode("utf-8", "replace"))
        for number in range(chat.samples):
            key = chat.template.key(caller.url, body, number)
            if chat.fresh or store.get(key) is None:
                request = chat.template.request(body, number)
                questions[key] = BatchLine(request.body, CallSize(size, chat.template.most_tokens))
    if len(questions) < FEWEST:
        return
    wire = Wire(caller.url, caller.headers, timeout=LONGEST_WAIT, most=LARGEST)
    poll = float(chat.options.get("batch_poll", 30))
    try:
        replies = await BatchCalls(wire, caller.ledger, store, poll=poll, price=chat.batch_price).ask(questions)
    finally:
        wire.close()
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for key, reply in replies.items():
        store.put(key, reply.text, {**reply.kept(), "at": at})
        chat.paid.add(key)


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One line of a batch: the body of its request, and the most that it can take."""

    body: bytes
    size: CallSize


class BatchCalls:
    """Batches at one server, looked after every *poll* seconds; a call in one costs so much of the usual *price*."""

    def __init__(self, wire: Wire, ledger: Ledger, store: ReplyStore, *, poll: float, price: float) -> None:
        self._wire, self._ledger, self._store, self._poll, self._price = wire, ledger, store, poll, price

    async def ask(self, questions: Mapping[str, BatchLine]) -> dict[str, ChatReply]:
        """Ask all *questions* by their keys, and return the replies that came; each is entered in the ledger.

        Raises OverBudget before anything goes up that could cost too much. A question without a reply is left to be
        asked by a call.
        """
        replies: dict[str, ChatReply] = {}
        keys = sorted(questions)
        for start in range(0, len(keys), MOST_IN_ONE):
            part = {key: questions[key] for key in keys[start : start + MOST_IN_ONE]}
            replies |= await self._ask_part(part)
        return replies

    async def _ask_part(self, questions: Mapping[str, BatchLine]) -> dict[str, ChatReply]:
        sizes = [question.size for question in questions.values()]
        whole = CallSize(sum(size.sent for size in sizes), sum(size.received for size in sizes))
        reserved = self._ledger.reserve(whole, self._price)
        if reserved is None:
            raise Conflict("Other calls of the run are under way.")
        bodies: dict[str, Any] = {}
        try:
            name = content_id(sorted(questions))
            batch = self._store.batch(name)
            if batch is None:
                batch = await self._begin(questions)
                self._store.keep_batch(name, batch)
            bodies = await self._collect(await self._wait(batch))
            self._store.keep_batch(name, None)
        finally:
            self._ledger.release(reserved)
        replies = {key: self._enter(question, bodies.get(key)) for key, question in questions.items()}
        return {key: reply for key, reply in replies.items() if reply is not None}

    async def _begin(self, questions: Mapping[str, BatchLine]) -> str:
        """Send the file up, and begin its batch."""
        file = b"\n".join(
            b'{"custom_id":%b,"method":"POST","url":%b,"body":%b}'
            % (json.dumps(key).encode(), json.dumps(PATH).encode(), question.body)
            for key, question in questions.items()
        )
        form = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="batch.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        ).encode()
        body = form + file + f"\r\n--{BOUNDARY}--\r\n".encode()
        uploaded = await self._json("POST", "/files", body, f"multipart/form-data; boundary={BOUNDARY}")
        begin = {"input_file_id": uploaded.get("id"), "endpoint": PATH, "completion_window": "24h"}
        batch = await self._json("POST", "/batches", json.dumps(begin).encode())
        return str(batch["id"])

    async def _wait(self, batch: str) -> Mapping[str, Any]:
        """Return what the server says of a batch once it is over; a look that fails is no end of it."""
        failed = 0
        while True:
            try:
                state = await self._json("GET", f"/batches/{batch}", b"")
                failed = 0
            except Unavailable:
                failed += 1
                if failed >= PATIENCE:
                    raise
            else:
                if state.get("status") in OVER:
                    return state
            await asyncio.sleep(self._poll)

    async def _collect(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the bodies of the replies, by key, also of a batch that ended before all of it was answered."""
        bodies: dict[str, Any] = {}
        file = state.get("output_file_id")
        if isinstance(file, str) and file:
            reply = await self._send("GET", f"/files/{file}/content", b"")
            for line in _lines(reply.content):
                response = line.get("response")
                if isinstance(response, Mapping) and response.get("status_code") == 200:
                    bodies[str(line.get("custom_id"))] = response.get("body")
        if not bodies and state.get("status") != "completed":
            raise Unavailable(
                "The batch ended as {status}, without replies: {why}",
                status=state.get("status"),
                why=repr(str(state.get("errors"))[:300]),
                remedy="Leave `batch` out, and each example is asked by a call.",
            )
        return bodies

    def _enter(self, question: BatchLine, body: Any) -> ChatReply | None:
        """Enter one question, and return its reply where it has one: what was not answered has cost nothing."""
        if body is None:
            self._ledger.enter("failed", None, TokenUse())
            return None
        completion, usage = read_reply(body, question.size)
        self._ledger.enter("answered", 200, usage, self._price)
        return None if isinstance(completion, BadInput) else completion

    async def _json(self, method: str, path: str, body: bytes, kind: str = "application/json") -> Mapping[str, Any]:
        reply = await self._send(method, path, body, kind)
        value = read_json(reply.content, ANSWER)
        if not isinstance(value, dict):
            raise Unavailable("The batch interface sent no object.")
        return value

    async def _send(self, method: str, path: str, body: bytes, kind: str = "application/json") -> Answered:
        try:
            reply: Answered = await self._wire.send(method, path, body, kind)
        except Unanswered as error:
            raise Unavailable("The batch interface {why}.", why=str(error)) from None
        if reply.status >= 500 or reply.status == 429:
            raise Unavailable("The batch interface answered with status {status}.", status=reply.status)
        if reply.status >= 300:
            shown = " ".join(reply.content[:300].decode("utf-8", "replace").split())
            raise Forbidden(
                "The server refused a batch with status {status}: {content}",
                status=reply.status,
                content=repr(shown),
                remedy="Leave `batch` out, and each example is asked by a call.",
            )
        return reply


def _lines(content: bytes) -> Iterator[Mapping[str, Any]]:
    for line in content.splitlines():
        if not line.strip():
            continue
        try:
            value = read_json(line, ANSWER)
        except BadInput:
            continue  # that question is asked by a call
        if isinstance(value, dict):
            yield value
