"""Draw the outputs of perturbations in other languages that were read for faults, or print the table of the documents.

    python benchmarks/perturb_languages.py --language de --kind keyboard     the outputs, one to a line
    python benchmarks/perturb_languages.py                                   the table of docs/perturbations.md
    python benchmarks/perturb_languages.py --digests                         the digests of what is drawn now

The sentences stand in `perturb_sentences`, written for this. `perturb_faults_languages.json` holds, for each language
and kind, how many seeds were drawn, the digest of all that came out, and the faults with the reason of each. Lists that
are changed give another digest, and a test asks for another reading.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from quintain.perturbations import draws
from quintain.perturbations.apply import PerturbedText, drop_protected, outcomes
from quintain.perturbations.batch import TextBatch
from quintain.perturbations.contract import perturbation
from quintain.stats.workers import wilson_share

HERE = Path(__file__).parent
MARKS = HERE / "perturb_faults_languages.json"
RARE = ("spelling_error", "number_form", "gender_words", "gender_names", "ethnicity_names", "contraction")


def sentences(language: str, kind: str) -> list[str]:
    """Read the sentences of a language; kinds of which a text has few are drawn from those about people, too."""
    names = [language, f"people_{language}"] if kind in RARE else [language]
    return [
        line
        for name in names
        for line in (HERE / "perturb_sentences" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    ]


def drawn(language: str, kind: str, seeds: int) -> Iterator[tuple[str, PerturbedText]]:
    """Yield the sentences that a kind changes, with what becomes of them, for so many seeds."""
    member, texts = perturbation(kind), sentences(language, kind)
    for seed in range(seeds):
        keyed = draws.keyed(draws.hashes_of(texts), member.name, member.version, seed)
        batch = TextBatch(texts, keyed, language=language)
        changes = outcomes(batch, drop_protected(batch, member.proposal(batch, member.rate)))
        yield from ((text, new) for text, new in zip(texts, changes, strict=True) if new is not None)


def digest(outputs: list[tuple[str, PerturbedText]]) -> str:
    """Name all that came out by its content."""
    return hashlib.sha256("\n".join(new.text for _, new in outputs).encode()).hexdigest()[:12]


def shown(text: str, new: PerturbedText) -> str:
    """Write the edits of a sentence where they stand."""
    line, place = "", 0
    for start, end, replacement in new.edits:
        line += f"{text[place:start]}{{{text[start:end]}→{replacement}}}"
        place = end
    return line + text[place:]


def table() -> None:
    """Print the counts of the marks with their rates and intervals."""
    print("| language | kind | outputs | faults | rate | 95 % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for language, kinds in json.loads(MARKS.read_text(encoding="utf-8")).items():
        for kind, mark in kinds.items():
            share = wilson_share(len(mark["faults"]), mark["outputs"])
            print(
                f"| {language} | {kind} | {mark['outputs']} | {len(mark['faults'])} | {share.value:.1%} "
                f"| {share.low:.1%}–{share.high:.1%} |".replace("%", " %")
            )


def main() -> None:
    """Print outputs, the table, or digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language")
    parser.add_argument("--kind")
    parser.add_argument("--digests", action="store_true")
    options = parser.parse_args()
    marks = json.loads(MARKS.read_text(encoding="utf-8"))
    if options.digests:
        for language, kinds in marks.items():
            for kind, mark in kinds.items():
                outputs = list(drawn(language, kind, mark["seeds"]))
                print(language, kind, len(outputs), digest(outputs))
    elif options.language and options.kind:
        for text, new in drawn(options.language, options.kind, marks[options.language][options.kind]["seeds"]):
            print(shown(text, new))
    else:
        table()


if __name__ == "__main__":
    main()
