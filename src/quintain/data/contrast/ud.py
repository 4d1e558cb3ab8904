"""Universal Dependencies: which word a prepositional phrase attaches to, before and after a noun phrase was altered.

The files say which way the attachment turned (noun-to-verb, verb-to-noun), and not which preposition it was: it is the
one whose phrase hangs on another word than before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from quintain.core.errors import BadInput, Fault
from quintain.data.contrast.contract import CONTRAST_FORMATS, ContrastFiles, ContrastFormat, ContrastSets, Member
from quintain.data.text import read_bytes

_WAYS = ("noun-to-verb", "verb-to-noun")
_VERBS = {"VERB", "AUX"}
_PHRASES = ("obl", "nmod")
_MARKERS = {"ADP", "SCONJ", "PART"}  # "opportunities to people" became "opportunities to succeed"


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence as CoNLL-U has it: words, parts of speech, heads (positions from 0) and relations."""

    name: str
    line: int
    words: list[str]
    tags: list[str]
    heads: list[int | None]
    relations: list[str]

    def attachments(self) -> dict[int, int]:
        """Return the word that the phrase of each preposition attaches to, by the preposition's position."""
        noun_by_preposition = {}
        for preposition, (tag, relation) in enumerate(zip(self.tags, self.relations, strict=True)):
            if tag in _MARKERS and relation.split(":")[0] in {"case", "mark"}:
                noun = self._noun(preposition)
                above = None if noun is None else self.heads[noun]
                if above is not None and above != preposition:
                    noun_by_preposition[preposition] = above
        return noun_by_preposition

    def _noun(self, preposition: int) -> int | None:
        """Find the noun of a preposition: its head or, where an edit left a stale number there, the next phrase."""
        head = self.heads[preposition]
        if head is not None and self.tags[head] not in {"DET", "PUNCT", "ADP"}:
            return head
        after = range(preposition + 1, len(self.words))
        return next((one for one in after if self.relations[one].split(":")[0] in _PHRASES), None)


def read(files: ContrastFiles) -> ContrastSets:
    """Read the four CoNLL-U files of a folder."""
    if not files.path.is_dir():
        raise BadInput("{path} is not the folder with the four CoNLL-U files.", path=files.path)
    sets = ContrastSets(files.path.name)
    for way in _WAYS:
        first, second = (files.file(rf"{part}_only\.{way}\.conllu$") for part in ("original", "altered"))
        originals, altered = list(sentences(first)), list(sentences(second))
        if [original.name for original in originals] != [one.name for one in altered]:
            raise BadInput(
                faults=[Fault("its sentences are not those of {other}", other=first.name, file=second.name)],
                remedy="Both files have the same sentences in the same order.",
            )
        for unaltered, other in zip(originals, altered, strict=True):
            places = turned(unaltered, other, to_verb=way.endswith("verb"))
            if places is None:
                sets.faults.append(Fault("no preposition is in both sentences", file=second.name, row=other.line))
                continue
            for original, sentence, preposition in ((True, unaltered, places[0]), (False, other, places[1])):
                inputs = {"tokens": sentence.words, "preposition": preposition}
                answer = sentence.attachments()[preposition]
                tags = () if original else (way,)
                name = f"{way}/{sentence.name}"  # two sentences were altered both ways
                sets.members.append(Member(sentence.line, name, name, original, inputs, answer, answer, tags))
    return sets


def turned(before: ParsedSentence, after: ParsedSentence, *, to_verb: bool) -> tuple[int, int] | None:
    """Find the preposition whose attachment turned, by its position in both sentences.

    Where none did as the file says (there is one that was not re-annotated), it is the one nearest to the edit.
    """
    blocks = SequenceMatcher(None, _lower(before), _lower(after), autojunk=False).get_matching_blocks()
    same = {block.a + step: block.b + step for block in blocks for step in range(block.size)}
    old, new = before.attachments(), after.attachments()
    both = [(place, same[place]) for place in old if same.get(place) in new]
    changed = [pair for pair in both if same.get(old[pair[0]]) != new[pair[1]]]
    right = [
        pair
        for pair in changed
        if (after.tags[new[pair[1]]] in _VERBS) is to_verb and (before.tags[old[pair[0]]] in _VERBS) is not to_verb
    ]
    edit = next((place for place in range(len(before.words)) if place not in same), len(before.words))
    return min(right or changed or both, key=lambda pair: abs(pair[0] - edit), default=None)


def _lower(sentence: ParsedSentence) -> list[str]:
    return [word.lower() for word in sentence.words]


def sentences(path: Path) -> Iterator[ParsedSentence]:
    """Read the sentences of a CoNLL-U file; the marks at the end of an altered one's name are left out."""
    name, first, rows = "", 1, list[list[str]]()
    for number, line in enumerate([*read_bytes(path).decode().split("\n"), ""], 1):
        if line.startswith("# sent_id"):
            name = line.partition("=")[2].strip().rstrip("*")
        elif line.strip() and not line.startswith("#"):
            first = first if rows else number
            cells = line.rstrip("\r").split("\t")
            if len(cells) < 8:
                raise BadInput(faults=[Fault("a word has {n} columns", n=len(cells), file=path.name, row=number)])
            rows.append(cells)
        elif rows and not line.strip():
            yield _sentence(name, first, rows)
            rows = []


def _sentence(name: str, line: int, rows: list[list[str]]) -> ParsedSentence:
    words = [cells for cells in rows if cells[0].isdecimal()]
    index_by_id = {cells[0]: number for number, cells in enumerate(words)}
    return ParsedSentence(
        name,
        line,
        [cells[1] for cells in words],
        [cells[3] for cells in words],
        [index_by_id.get(cells[6]) for cells in words],
        [cells[7] for cells in words],
    )


CONTRAST_FORMATS.register("ud")(
    ContrastFormat("ud", read, 'kind = "attachment"', "accuracy", "Attachment of prepositional phrases: 150 pairs.")
)
