"""What one call to a chat endpoint costs in processor time: through the adapter, and in a bare loop of http.client.

The server is another process on loopback that replies at once, so that nothing but our own work is measured, and it is
measured as processor time, which a busy machine does not change much. With the path of a Python that has lm_eval
(`--harness`), lm-evaluation-harness asks the same server for as many completions.

    python benchmarks/chat_calls.py --calls 2000
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from quintain.adapters.contract import Outside
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import Limits
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter

REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "positive"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41},
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
PROMPT = "Which of {labels} fits this review? Answer with one word.\n\n{text}"
TEXT = "The film is long, the jokes are old, and I would see it again tomorrow, number {}."


def serve(port: Connection) -> None:
    """Reply to every request at once, and keep the connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.lower().split(b"\r\n")
                length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
                await reader.readexactly(length)
                writer.write(HEAD % len(REPLY) + REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def bare(port: int, calls: int) -> None:
    """Ask in a loop, with nothing around it."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(calls):
        body = {"model": "m", "messages": [{"role": "user", "content": TEXT.format(number)}]}
        headers = {"content-type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body).encode(), headers)
        assert json.loads(connection.getresponse().read())["choices"]


def adapted(port: int, calls: int, cache: Path | None) -> None:
    """Ask as a run does: prompt, cache, reading."""
    url = f"http://127.0.0.1:{port}"
    task = check_task(starter("text-classification", "sentiment"))
    model = RunnableModel(Path(), "chat", {"url": f"{url}/v1", "model": "m", "prompt": PROMPT, "concurrency": 64})
    inputs = [{"text": TEXT.format(number)} for number in range(calls)]
    with open_runner(model, task, limits=Limits(), outside=Outside((url,), cache=cache)) as runner:
        answers = [one for start in range(0, calls, 256) for one in runner.predict(inputs[start : start + 256]).answers]
    assert answers == ["positive"] * calls


HARNESS = """
import sys, time
from lm_eval.models.openai_completions import LocalChatCompletion
from lm_eval.api.instance import Instance
port, calls = sys.argv[1], int(sys.argv[2])
model = LocalChatCompletion(base_url=f"http://127.0.0.1:{port}/v1/chat/completions", model="m", num_concurrent=4)
model.tokenizer_backend = None
texts = [f"The film is long, the jokes are old, and I would see it again tomorrow, number {n}." for n in range(calls)]
asked = [model.apply_chat_template([{"role": "user", "content": text}]) for text in texts]
wanted = [Instance("generate_until", {}, (one, {"max_gen_toks": 64}), n) for n, one in enumerate(asked)]
start = time.process_time()
found = model.generate_until(wanted, disable_tqdm=True)
spent = time.process_time() - start
assert found == ["positive"] * calls
print(1e6 * spent / calls)
"""


def cost(work: Callable[[], Any], calls: int) -> float:
    """Give the microseconds of processor time for each call, user and system, of all threads."""
    start = time.process_time()
    work()
    return 1e6 * (time.process_time() - start) / calls


def main() -> None:
    """Measure each way several times and print the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--harness", help="a Python that has lm_eval")
    given = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    found: dict[str, list[float]] = {}
    adapted(port, 100, None)  # what is imported and compiled once
    for _ in range(given.repeats):
        found.setdefault("bare http.client", []).append(cost(lambda: bare(port, given.calls), given.calls))
        found.setdefault("chat adapter", []).append(cost(lambda: adapted(port, given.calls, None), given.calls))
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            keep = cost(lambda cache=cache: adapted(port, given.calls, cache), given.calls)
            found.setdefault("chat adapter, replies kept", []).append(keep)
            again = cost(lambda cache=cache: adapted(port, given.calls, cache), given.calls)
            found.setdefault("chat adapter, from the cache", []).append(again)
        if given.harness:
            command = [given.harness, "-c", HARNESS, str(port), str(given.calls)]
            said = subprocess.run(command, capture_output=True, text=True, check=True)
            found.setdefault("lm-evaluation-harness", []).append(float(said.stdout.split()[-1]))
    server.terminate()
    base = sorted(found["bare http.client"])[given.repeats // 2]
    for name, values in found.items():
        middle = sorted(values)[len(values) // 2]
        print(f"{name:32} {middle:8.0f} µs a call   {middle / base:5.2f} × bare")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
