"""Replace first names consistently over all fields of an example."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from quintain.perturbations import draws
from quintain.perturbations.contract import EditDraft, Perturbation, Proposal, TextBatch
from quintain.perturbations.fairness import recogniser
from quintain.perturbations.fairness.mentions import Mention, Recogniser, find_mentions
from quintain.perturbations.fairness.namelist import FirstName, first_names, pool
from quintain.perturbations.wordlists import cased_like


class NamePerturbation(Perturbation):
    """Replaces every first name of an example by one from another cell of the list.

    *recognise* finds named entities in a text; by default that is spaCy's, where it is installed.
    """

    def __init__(self, recognise: Recogniser | None = None) -> None:
        self._recognise = recognise or (recogniser.recognise if recogniser.installed() else None)

    @abstractmethod
    def target(self, name: FirstName, seed: int) -> tuple[str, str]:
        """Return from which gender and group the replacement of *name* comes; *seed* is the example's."""

    @abstractmethod
    def group(self, name: FirstName, target: tuple[str, str]) -> tuple[str, str]:
        """Return from which group to which the replacement goes, for the report."""

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Replace all mentions of a name in an example by the same other name."""
        draft = EditDraft()
        mentions = find_mentions(batch, self._recognise)
        tied = self.tie(batch, draft, mentions)
        for owner, some in mentions.items():
            if owner in tied:
                self._replace(batch, draft, some, int(batch.owner_seeds[owner]), tied[owner])
        return draft.proposal()

    def tie(self, batch: TextBatch, draft: EditDraft, mentions: Mapping[int, Sequence[Mention]]) -> Mapping[int, str]:
        """Return which examples to change, and the key that ties all edits of one; empty where each name has its own.

        What else must change with the names goes into *draft*.
        """
        return dict.fromkeys(mentions, "")

    def _replace(self, batch: TextBatch, draft: EditDraft, mentions: Iterable[Mention], seed: int, tie: str) -> None:
        taken = {mention.key for mention in mentions}
        chosen: dict[str, tuple[str, tuple[str, str]]] = {}
        for mention in mentions:
            if mention.key not in chosen:
                name = first_names()[mention.key]
                target = self.target(name, seed)
                new = _draw(pool(*target), mention.key, seed, taken)
                taken.add(new)
                chosen[mention.key] = (first_names()[new].name, self.group(name, target))
            replacement, group = chosen[mention.key]
            old = batch.joined[mention.start : mention.end]
            draft.add(mention.start, mention.end, cased_like(old, replacement), tie or mention.key, group)


def _draw(names: tuple[str, ...], key: str, seed: int, taken: set[str]) -> str:
    """Draw a name; two names of an example never become one."""
    first = draws.seed_of(key, seed) % len(names)
    return next(name for name in names[first:] + names[:first] if name not in taken)
