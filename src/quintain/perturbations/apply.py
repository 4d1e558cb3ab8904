"""From proposed edits to perturbed texts, and spans moved along with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.languages import ENGLISH
from quintain.perturbations import draws
from quintain.perturbations.batch import Ints, Span, TextBatch
from quintain.perturbations.contract import Edit, Perturbation, Proposal

CHUNK = 2_048  # texts worked on together: enough for vector operations to pay, little enough to keep memory flat


@dataclass(frozen=True, slots=True)
class PerturbedText:
    """What became of one text: the new one, the edits that lead to it, and from which groups to which."""

    text: str
    edits: tuple[Edit, ...]
    groups: frozenset[tuple[str, str]] = frozenset()


def perturb_texts(
    texts: Sequence[str],
    perturbation: Perturbation,
    *,
    seed: int = 0,
    severity: float = 1.0,
    language: str = ENGLISH,
) -> list[str | None]:
    """Perturb each of *texts*, which are in *language*; None stands for one that stays as it is.

    >>> from quintain.perturbations.contract import perturbation
    >>> perturb_texts(["I do not know her book.", "…"], perturbation("contraction"))
    ["I don't know her book.", None]
    """
    rate = rate_of(perturbation, severity)
    # Plain English texts keep their own company: a batch of them is read as bytes, one character each.
    is_plain = list(map(str.isascii, texts))
    if all(is_plain) or not any(is_plain):
        return _in_chunks(texts, perturbation, seed, rate, language)
    plain = [i for i, yes in enumerate(is_plain) if yes]
    other = [i for i, yes in enumerate(is_plain) if not yes]
    result: list[str | None] = [None] * len(texts)
    for places in (plain, other):
        for i, new in zip(
            places, _in_chunks([texts[i] for i in places], perturbation, seed, rate, language), strict=True
        ):
            result[i] = new
    return result


def _in_chunks(
    texts: Sequence[str], perturbation: Perturbation, seed: int, rate: float, language: str
) -> list[str | None]:
    result: list[str | None] = []
    for begin in range(0, len(texts), CHUNK):
        chunk = texts[begin : begin + CHUNK]
        seeds = draws.keyed(draws.hashes_of(chunk), perturbation.name, perturbation.version, seed)
        quick = perturbation.shortcut(chunk, seeds, rate)
        result += carry_out(chunk, seeds, perturbation, rate, language) if quick is None else quick
    return result


def carry_out(
    texts: Sequence[str], seeds: draws.Hashes, perturbation: Perturbation, rate: float, language: str = ENGLISH
) -> list[str | None]:
    """Perturb *texts*, each with its seed, by way of edits."""
    batch = TextBatch(texts, seeds, language=language)
    return rewrite(batch, drop_protected(batch, perturbation.proposal(batch, rate)))


def rate_of(perturbation: Perturbation, severity: float) -> float:
    """Return the share of words to edit at *severity*; refuse what is no severity."""
    if not 0 < severity <= 100:
        raise BadInput(
            "severity is {severity}.",
            severity=severity,
            remedy="It multiplies the rate: give a number above 0, such as 2.",
        )
    return min(1.0, perturbation.rate * severity)


def drop_protected(batch: TextBatch, proposal: Proposal) -> Proposal:
    """Drop the edits that touch protected spans, and those that are tied to a dropped one."""
    if not batch.spans or not len(proposal):
        return proposal
    touched = _touches(proposal, batch.spans)
    if not touched.any():
        return proposal
    if proposal.keys is not None:
        owner = batch.owners[batch.text_at(proposal.start)].tolist()
        tied = list(zip(owner, proposal.keys, strict=True))
        refused = {tied[i] for i in np.flatnonzero(touched).tolist() if tied[i][1]}
        touched |= np.array([one in refused for one in tied], dtype=bool)
    return proposal.take(np.flatnonzero(~touched))


def _touches(proposal: Proposal, spans: Sequence[Span]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    touched = np.zeros(len(proposal), dtype=bool)
    for start, end in spans:
        # Sorted and disjoint edits: those that reach into (start, end) are neighbours.
        first = int(np.searchsorted(proposal.end, start, side="right"))
        last = int(np.searchsorted(proposal.start, end, side="left"))
        touched[first:last] = True
    return touched


def rewrite(batch: TextBatch, proposal: Proposal) -> list[str | None]:
    """Carry out the edits; None stands for a text without any."""
    result: list[str | None] = [None] * len(batch)
    if not len(proposal):
        return result
    joined = batch.joined
    pieces = [""] * (2 * len(proposal) + 1)
    pieces[1::2] = proposal.replacement
    untouched = zip([0, *proposal.end.tolist()], [*proposal.start.tolist(), len(joined)], strict=True)
    pieces[::2] = [joined[start:end] for start, end in untouched]
    whole = "".join(pieces)
    text = batch.text_at(proposal.start)
    sizes = np.fromiter(map(len, proposal.replacement), dtype=np.int64, count=len(proposal))
    grown = np.bincount(text, weights=sizes - (proposal.end - proposal.start), minlength=len(batch)).astype(np.int64)
    shift = np.cumsum(grown)
    ends = (batch.ends + shift).tolist()
    begins = (batch.begins + shift - grown).tolist()
    texts = batch.texts
    for i in text[np.diff(text, prepend=-1) > 0].tolist():
        new = whole[begins[i] : ends[i]]
        # A text is never emptied, and edits that cancel out are no change.
        if new != texts[i] and new and not new.isspace():
            result[i] = new
    return result


def outcomes(batch: TextBatch, proposal: Proposal) -> list[PerturbedText | None]:
    """Carry out the edits and tell, for each changed text, what was done."""
    texts = rewrite(batch, proposal)
    result: list[PerturbedText | None] = [None] * len(batch)
    groups = proposal.groups
    for i, first, last in _stretches(batch.text_at(proposal.start)):
        new = texts[i]
        if new is None:
            continue
        begin = int(batch.begins[i])
        stretch = range(first, last)
        edits = tuple(
            (int(proposal.start[j]) - begin, int(proposal.end[j]) - begin, proposal.replacement[j]) for j in stretch
        )
        result[i] = PerturbedText(
            new, edits, frozenset(groups[j] for j in stretch) - {("", "")} if groups else frozenset()
        )
    return result


def _stretches(text: Ints) -> Iterator[tuple[int, int, int]]:
    """Yield (text, first edit, last edit + 1) for each text with edits."""
    if not text.size:
        return
    borders = np.flatnonzero(np.diff(text)) + 1
    firsts = [0, *borders.tolist()]
    for first, last in zip(firsts, [*firsts[1:], text.size], strict=True):
        yield int(text[first]), first, last


def replay(text: str, edits: Sequence[Edit]) -> str:
    """Carry out *edits*, given in the offsets of *text*.

    >>> replay("her book", [(0, 3, "his")])
    'his book'
    """
    for start, end, replacement in reversed(edits):
        text = text[:start] + replacement + text[end:]
    return text


def realign(span: Span, edits: Sequence[Edit]) -> Span | None:
    """Move *span* along with *edits*; None where an edit reaches into it.

    >>> realign((4, 8), [(0, 3, "their")])
    (6, 10)
    """
    shift = 0
    for start, end, replacement in edits:
        if end <= span[0]:
            shift += len(replacement) - (end - start)
        elif start < span[1]:
            return None
    return span[0] + shift, span[1] + shift
