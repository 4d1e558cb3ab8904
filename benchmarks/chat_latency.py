"""How many calls at once a client keeps up: a server that answers after 300 ms, asked about thousands of examples.

The server is another process on loopback. The ideal is what the connections could do if nothing but its delay took
time. With the path of a Python that has lm_eval and inspect_ai (`--peers`), both ask the same server for as much.

    python benchmarks/chat_latency.py --examples 5000 --connections 500
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import subprocess
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from chat_calls import HEAD, PROMPT, REPLY, TEXT
from quintain.adapters.contract import Outside
from quintain.engine.runner import RunnableModel, open_runner
from quintain.engine.sandbox.limits import Limits
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter

DELAY_S = 0.3


class Late(asyncio.Protocol):
    """A connection on which every request is answered late."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport: Any = transport
        self.read = b""

    def data_received(self, data: bytes) -> None:
        """Answer, once the request is whole, in a while."""
        self.read += data
        head, found, body = self.read.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        if found and len(body) >= length:
            self.read = b""
            asyncio.get_running_loop().call_later(DELAY_S, self.transport.write, HEAD % len(REPLY) + REPLY)


def serve(port: Connection) -> None:
    """Serve until the process is ended."""

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Late, "127.0.0.1", 0, backlog=2048)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def ours(port: int, examples: int, connections: int) -> tuple[float, float]:
    """Ask as a run does, with replies kept, and give the seconds by the clock and of the processor."""
    url = f"http://127.0.0.1:{port}"
    task = check_task(starter("text-classification", "sentiment"))
    options = {"url": f"{url}/v1", "model": "m", "prompt": PROMPT, "concurrency": connections}
    inputs = [{"text": TEXT.format(number)} for number in range(examples)]
    answers: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        outside = Outside((url,), cache=Path(folder))
        with open_runner(RunnableModel(Path(), "chat", options), task, limits=Limits(), outside=outside) as runner:
            start, spent = time.perf_counter(), time.process_time()
            runner.predict_each(inputs, lambda row, answer: answers.append(answer.answer))
            taken = time.perf_counter() - start, time.process_time() - spent
    assert answers == ["positive"] * examples
    return taken


HARNESS = """
import sys, time
from lm_eval.models.openai_completions import LocalChatCompletion
from lm_eval.api.instance import Instance
port, examples, connections = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
url = f"http://127.0.0.1:{port}/v1/chat/completions"
model = LocalChatCompletion(base_url=url, model="m", num_concurrent=connections, tokenizer_backend=None)
asked = [model.apply_chat_template([{"role": "user", "content": f"Example {n}"}]) for n in range(examples)]
wanted = [Instance("generate_until", {}, (one, {"max_gen_toks": 64}), n) for n, one in enumerate(asked)]
start, spent = time.perf_counter(), time.process_time()
found = model.generate_until(wanted, disable_tqdm=True)
print(time.perf_counter() - start, time.process_time() - spent)
assert found == ["positive"] * examples
"""
INSPECT = """
import sys, time
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import match
port, examples, connections = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
url = f"http://127.0.0.1:{port}/v1"
model = get_model("openai-api/local/m", base_url=url, api_key="none")
task = Task([Sample(input=f"Example {n}", target="positive") for n in range(examples)], scorer=match())
start, spent = time.perf_counter(), time.process_time()
most = {"max_connections": connections, "max_samples": connections}
logs = eval(task, model=model, display="none", log_dir=sys.argv[4], **most)
print(time.perf_counter() - start, time.process_time() - spent)
assert logs[0].status == "success"
"""


def main() -> None:
    """Measure each client once and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--peers", help="a Python that has lm_eval and inspect_ai")
    given = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    port = here.recv()
    taken = {"Quintain": ours(port, given.examples, given.connections)}
    for name, code in (("lm-evaluation-harness", HARNESS), ("Inspect", INSPECT)) if given.peers else ():
        with tempfile.TemporaryDirectory() as logs:
            command = [given.peers, "-c", code, str(port), str(given.examples), str(given.connections), logs]
            said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.returncode:
            print(f"{name:24} failed: {said.stderr.strip().splitlines()[-1]}")
            continue
        clock, processor = said.stdout.split()[-2:]
        taken[name] = float(clock), float(processor)
    server.terminate()
    ideal = -(-given.examples // given.connections) * DELAY_S
    for name, (clock, processor) in taken.items():
        each = 1e6 * processor / given.examples
        print(f"{name:24} {clock:7.2f} s   {ideal / clock:5.0%} of the ideal rate   {each:7.0f} µs of processor a call")


if __name__ == "__main__":
    main()
