"""Race the seven perturbations of the paper against nlpaug and AugLy, family by family, on 10,000 sentences.

    python benchmarks/perturb_race.py [--file SENTENCES.txt] [--nlpaug BIN/python] [--augly BIN/python]

Each peer edits one word in ten (all that it knows, where it has no such setting); the share of words that it did edit
is measured, ours is set to the same share, and both shares are printed. Seeds are fixed, the best of several runs
counts in seconds of the processor, and loading is not timed. The peers are installed into fresh environments, AugLy
with the old nlpaug that it asks for (its typos fail with the current one), or taken from the options. They are timed
in processes of their own by this same file; what cannot run there says why and is skipped.

Two modes of AugLy are shown apart, below the line: punctuation at every n-th character, wherever that falls, and the
case of a text as a whole. They choose no words, so that there is little in them that could be done faster.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

RATE = 0.1
Augment = Callable[[list[str]], list[str]]
# What each peer installs, and its families; "family:mode" is one of those that choose no words.
PEERS = {
    "nlpaug": ("nlpaug", ("keyboard", "ocr", "spelling_error", "typos")),
    "augly": (
        "augly[text]",
        (
            *("contraction", "keyboard", "ocr", "punctuation", "spelling_error", "typos", "word_case"),
            *("punctuation:all", "word_case:all"),
        ),
    ),
}
ENOUGH = 20.0  # seconds after which a slow peer is not run again
SMALL = "the a of and to in is it that was for on with as this but not are be have I you they do we"
LARGE = """definitely restaurant believe beautiful performance character surprise story director interesting little
people really movie because friend through receive separate government beginning weather comedy actors does not it is
they are I am cannot will not don't it's isn't they're great terrible different happened"""


def sentences(file: Path | None, count: int) -> list[str]:
    """Read sentences, one to a line, or make some of common words; *count* of them, over again if need be."""
    if file is not None:
        found = [line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        rng = random.Random(0)
        small, large = SMALL.split(), LARGE.split()
        found = [
            " ".join(rng.choice(small if rng.random() < 0.5 else large) for _ in range(rng.randint(8, 30))) + "."
            for _ in range(count)
        ]
    return (found * (count // len(found) + 1))[:count]


def share_edited(before: list[str], after: list[str], *, marks: bool = False) -> float:
    """Give the share of words of *before* that are missing in *after*.

    Words are runs of letters and digits, since peers set blanks around marks anew; with *marks* they are what stands
    between blanks.
    """
    part = str.split if marks else re.compile(r"\w+").findall
    words = missing = 0
    for old, new in zip(before, after, strict=True):
        one = part(old)
        words += len(one)
        missing += sum((Counter(one) - Counter(part(new))).values())
    return missing / words


def best(run: Callable[[], object], runs: int) -> float:
    """Run several times and give the shortest time in seconds of the processor, which other work disturbs least."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
        if sum(times) > ENOUGH:
            break
    return min(times)


def fitted(make: Callable[[float], Augment], texts: list[str], share: float) -> Augment:
    """Make the augmenter with the cadence at which it edits about *share* of the words."""
    some = texts[:300]
    cadences = [1 + 0.05 * i for i in range(40)] + [3 + 0.5 * i for i in range(40)] + [25 + 5 * i for i in range(30)]
    return make(min(cadences, key=lambda one: abs(share_edited(some, make(one)(some), marks=True) - share)))


def peer(name: str, texts: list[str], case_share: float) -> Augment:
    """Make the augmenter *name* of a peer; called in the peers' environment only.

    *case_share* is the share of words that our change of case edits.
    """
    library, family = name.split()
    if library == "nlpaug":
        import nlpaug.augmenter.char as chars
        import nlpaug.augmenter.word as words

        letters = {"aug_word_p": RATE, "aug_word_max": 1000, "aug_char_min": 1, "aug_char_max": 1}
        made = {
            "keyboard": lambda: chars.KeyboardAug(**letters),
            "ocr": lambda: chars.OcrAug(**letters),
            "typos": lambda: chars.RandomCharAug(action="swap", **letters),
            "spelling_error": lambda: words.SpellingAug(aug_p=RATE, aug_max=1000),
        }[family]()
        return made.augment
    import augly.text as augly

    slip = {"aug_word_p": RATE, "aug_char_max": 1}
    marks = lambda how: lambda pace: augly.InsertPunctuationChars(granularity=how, cadence=pace)  # noqa: E731
    cases = lambda pace: augly.ChangeCase(granularity="word", cadence=pace, case="upper")  # noqa: E731
    transforms: dict[str, Callable[[], Augment]] = {
        "contraction": lambda: augly.Contractions(aug_p=1.0),
        "keyboard": lambda: augly.SimulateTypos(typo_type="keyboard", **slip),
        "ocr": lambda: augly.ReplaceSimilarChars(**slip),
        "punctuation": lambda: fitted(marks("word"), texts, RATE),
        "spelling_error": lambda: augly.SimulateTypos(typo_type="misspelling", **slip),
        "typos": lambda: augly.SimulateTypos(typo_type="charmix", **slip),
        "word_case": lambda: fitted(cases, texts, case_share),
        "punctuation:all": lambda: fitted(marks("all"), texts, RATE),
        "word_case:all": lambda: augly.ChangeCase(granularity="all", case="upper"),
    }
    return transforms[family]()


def time_peers(job: Path) -> None:
    """Run the peers on the texts in *job* and print one line of JSON for each."""
    given = json.loads(job.read_text(encoding="utf-8"))
    texts = given["texts"]
    for name in given["names"]:
        random.seed(0)
        try:
            augment = peer(name, texts, given["case_share"])
            after = augment(texts[:200])
            if isinstance(after, str) or len(after) != 200:
                raise TypeError("does not give a text for each text")
            after = augment(texts)
            seconds = best(lambda: augment(texts), given["runs"])  # noqa: B023 - called before the loop goes on
            line = {
                "name": name,
                "seconds": seconds,
                "share": share_edited(texts, after, marks="punctuation" in name),
            }
        except Exception as error:  # whatever a peer stumbles over is its result
            line = {"name": name, "error": f"{type(error).__name__}: {error}"[:150]}
        print(json.dumps(line), flush=True)


def ours(family: str, texts: list[str], share: float, runs: int) -> tuple[float, float]:
    """Time our perturbation at the peer's share of edited words; give seconds and our share."""
    from quintain.perturbations.apply import perturb_texts
    from quintain.perturbations.contract import perturbation

    member, marks = perturbation(family), family == "punctuation"

    def run(severity: float) -> list[str]:
        return [new or old for old, new in zip(texts, perturb_texts(texts, member, severity=severity), strict=True)]

    most = share_edited(texts, run(1 / member.rate), marks=marks)
    severity = 1 / member.rate if share > 0.97 * most else max(0.001, share / member.rate)
    for _ in range(3):  # rounding and at-least-one move the share a little: correct for it
        found = share_edited(texts, run(severity), marks=marks)
        if not found or abs(found - share) < 0.03 * share or severity * member.rate >= 1:
            break
        severity = min(100.0, max(0.001, severity * share / found))
    seconds = best(lambda: perturb_texts(texts, member, severity=severity), runs)
    return seconds, share_edited(texts, run(severity), marks=marks)


def environment(folder: Path, package: str) -> Path:
    """Install *package* into a fresh environment and give its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = subprocess.run([python, "-m", "pip", "install", "-q", package], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{package} cannot be installed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return python


def timed(library: str, python: Path | None, texts: list[str], runs: int) -> list[dict[str, Any]]:
    """Time all families of one peer in its environment."""
    package, families = PEERS[library]
    with tempfile.TemporaryDirectory() as folder:
        python = python or environment(Path(folder) / library, package)
        job = Path(folder) / "job.json"
        names = [f"{library} {family}" for family in families]
        told = {"texts": texts, "runs": runs, "names": names, "case_share": ours("word_case", texts, 1.0, 1)[1]}
        job.write_text(json.dumps(told), encoding="utf-8")
        command = [str(python), "-W", "ignore", __file__, "--peers", str(job)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{library} cannot run: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--nlpaug", type=Path)
    parser.add_argument("--augly", type=Path)
    parser.add_argument("--peers", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peers:
        time_peers(options.peers)
        return
    texts = sentences(options.file, options.count)
    told = [
        *timed("nlpaug", options.nlpaug, texts, options.runs),
        *timed("augly", options.augly, texts, options.runs),
    ]
    print(f"{'family':<18}{'peer':<8}{'peer/s':>11}{'ours/s':>10}{'ratio':>8}{'peer share':>12}{'our share':>11}")
    apart = [one for one in told if ":" in one["name"]]
    for one in [one for one in told if one not in apart]:
        print_row(one, texts, options.runs)
    print("-" * 78)
    for one in apart:
        print_row(one, texts, options.runs)


def print_row(told: dict[str, Any], texts: list[str], runs: int) -> None:
    """Time ours at the share of a peer and print both."""
    library, family = told["name"].split()
    if "error" in told:
        print(f"{family:<18}{library:<8}  skipped: {told['error']}")
        return
    seconds, share = ours(family.partition(":")[0], texts, told["share"], runs)
    theirs, rate = len(texts) / told["seconds"], len(texts) / seconds
    print(
        f"{family:<18}{library:<8}{theirs:>11,.0f}{rate:>10,.0f}{rate / theirs:>7.1f}×"
        f"{told['share']:>11.1%}{share:>11.1%}"
    )


if __name__ == "__main__":
    main()
