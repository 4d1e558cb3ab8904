"""Breaking automatically: a search turns a model by small changes of starter sentences, and people confirm each pair.

Words are ranked by what leaving them out does to the model, and replaced one after another, as a team of 2017 did. A
search keeps how far it is after every few sentences, so that somebody can go on with it later, and ends at its budget.
What it proposes is no pair: a person says which label the changed sentence has, and the contest's rules decide.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Example, Prediction
from quintain.core.people import OPERATOR, Actor
from quintain.core.records import contests as records
from quintain.core.task import Task
from quintain.perturbations.drafts.contract import words_of
from quintain.perturbations.drafts.search import FlipCandidate, SearchLimits, flip_search
from quintain.perturbations.drafts.substitutes import WORD_SOURCES, Substitutes, WordSource, substitutes_of
from quintain.services.access import audit
from quintain.services.contest.contests import ContestInfo, find_contest, require_phase
from quintain.services.contest.grading import as_cell
from quintain.services.contest.pair_checks import PairDraft
from quintain.services.contest.pairs import MAX_PAGE, put_pair
from quintain.services.contest.teams import require_part
from quintain.services.data.content import contains_text, scan_for_scoring
from quintain.services.data.datasets import get_version
from quintain.services.models.ask import MAX_INPUTS, RUNNERS, AdapterRunner, predict
from quintain.services.models.registry import get_model, versions_by_id
from quintain.services.tasks.definitions import get_task
from quintain.stats.grading import written
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import searches as queries
from quintain.store.queries.contest.searches import StoredSearch
from quintain.store.tables import ContestProposal, ContestSearch
from quintain.tasks.contract import kind_of

STRATEGY = "automatic search"
MOST_OF_A_SENTENCE = 3  # proposals
MOST_WORDS, MOST_BEAM, MOST_BUDGET = 5, 10, 100_000
STEP_SECONDS, STEP_SENTENCES = 4.0, 20  # of one call that goes on with a search
LEARNT_FROM = 5_000  # texts


@dataclass(slots=True)
class _Asking:
    """A model that is asked about texts in the place of one field, and how many it was asked about."""

    db: Session
    blobs: Blobs
    actor: Actor
    ref: str
    task: Task
    runners: Mapping[str, AdapterRunner]
    most: int
    asked: int = 0

    @property
    def left(self) -> int:
        """How many texts it may still be asked about."""
        return self.most - self.asked

    def about(self, inputs: Mapping[str, Any], name: str, texts: Sequence[str]) -> list[Mapping[str, float]]:
        """Return how likely the model finds each label of *texts*, which stand in the field *name* of *inputs*."""
        batch = [{**inputs, name: text} for text in texts]
        parts = [batch[start : start + MAX_INPUTS] for start in range(0, len(batch), MAX_INPUTS)]
        answers = [
            answer
            for part in parts
            for answer in predict(self.db, self.blobs, self.actor, self.ref, part, runners=self.runners)
        ]
        self.asked += len(batch)
        return [self._likelihoods(answer) for answer in answers]

    def _likelihoods(self, answer: Prediction) -> Mapping[str, float]:
        labels = kind_of(self.task).answers.is_class
        return (answer.probabilities if labels else None) or {written(as_cell(self.task, answer.answer) or ""): 1.0}


@dataclass(slots=True)
class _Step:
    """What one call found, until it is written down."""

    position: int
    proposals: list[ContestProposal] = field(default_factory=list)


def start_search(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    model: str,
    *,
    text: str = "",
    words: int = 2,
    beam: int = 4,
    budget: int = 500,
    sources: Sequence[str] = WORD_SOURCES,
) -> records.ContestSearch:
    """Begin a search for changes that turn *model*, over the starter sentences that contain *text*.

    Up to *words* words are replaced by others from *sources*; *beam* texts are kept in each step, and the model is
    asked about at most *budget* texts. `advance_search` goes on with it.
    """
    info = find_contest(db, ref)
    chosen = _checked(info, words, beam, budget, sources)
    version = get_model(db, actor, model).version
    if version.task != info.task:
        raise BadInput("'{model}' is a model of another task.", model=model)
    total = len(_sentences(db, blobs, info, text))
    if not total:
        raise NotFound("No sentence of the starter set contains '{text}'.", text=text)
    with transaction(db):
        team = require_part(db, actor, info, "break")
        require_phase(info, Phase.BREAK)
        options = {"text": text, "words": words, "beam": beam, "budget": budget, "sources": list(chosen)}
        row = ContestSearch(
            contest_id=info.id,
            team_id=team.id,
            model_version_id=version.id,
            options=options,
            total=total,
            created_by=actor.user_id,
        )
        db.add(row)
        db.flush()
        audit.record(db, actor, "contest.search", info.ref, team=team.name, model=version.ref, budget=budget)
        number = row.id
    return get_search(db, actor, ref, number)


def advance_search(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    number: int,
    *,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
    seconds: float = STEP_SECONDS,
) -> records.ContestSearch:
    """Go on with a search for some *seconds*, at least by a sentence; call it again until the search is done."""
    info = find_contest(db, ref)
    search, left = _to_go_on(db, actor, info, number)
    options, task = search.options, get_task(db, info.task)
    rows = _sentences(db, blobs, info, options["text"])
    offered = substitutes_of(options["sources"], _texts(task, _sentences(db, blobs, info, ""))[:LEARNT_FROM])
    version = versions_by_id(db, [search.model_version_id])[search.model_version_id]
    asking = _Asking(db, blobs, actor, version.ref, task, runners, left)
    known, step = queries.hashes(db, search.id), _Step(search.position)
    starters = {row["id"] for row in rows}
    began = time.monotonic()
    looked = 0
    while step.position < min(search.total, len(rows)):
        row = rows[step.position]
        affordable = _least_cost(task, row) <= asking.left
        if looked and affordable and (time.monotonic() - began > seconds or looked == STEP_SENTENCES):
            break
        for proposal in _proposals(info, task, row, asking, offered, options) if affordable else []:
            if proposal.modified_hash not in known | starters:
                known.add(proposal.modified_hash)
                proposal.search_id = search.id
                step.proposals.append(proposal)
        step.position += 1
        looked += affordable
    db.rollback()  # a model may have taken its time: nothing was held meanwhile
    with transaction(db):
        if not queries.advance(db, search, step.position, asking.asked):
            raise Conflict("Somebody else goes on with this search.", remedy="Look again.")
        db.add_all(step.proposals)
    return get_search(db, actor, ref, number)


def list_searches(db: Session, actor: Actor, ref: str) -> records.ContestSearches:
    """List the searches of one's team, and how many texts it may still ask models about."""
    info = find_contest(db, ref)
    team = require_part(db, actor, info, "break")
    left = max(0, info.spec.searches - queries.asked_by_team(db, team.id))
    every = queries.of_team(db, team.id)
    names = {
        key: version.ref for key, version in versions_by_id(db, [one.row.model_version_id for one in every]).items()
    }
    return records.ContestSearches([_described(search, names, left) for search in every], left)


def get_search(db: Session, actor: Actor, ref: str, number: int) -> records.ContestSearch:
    """Return a search of one's team; NotFound for one of others."""
    search = next((search for search in list_searches(db, actor, ref).searches if search.number == number), None)
    if search is None:
        raise NotFound("Your team has no search {number}.", number=number)
    return search


def list_proposals(
    db: Session, actor: Actor, ref: str, number: int, *, waiting: bool = False, offset: int = 0, limit: int = 25
) -> records.ContestProposals:
    """Return a page of what a search proposes, those that wait first; with *waiting*, only such."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} pairs.", most=MAX_PAGE)
    get_search(db, actor, ref, number)
    task = get_task(db, find_contest(db, ref).task)
    rows, total = queries.proposals(db, number, waiting=waiting, offset=offset, limit=limit)
    return records.ContestProposals([_shown(task, row) for row in rows], total, offset)


def confirm_proposal(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    number: int,
    modified_label: Any,
    *,
    rationale: str = "",
    tags: Sequence[str] = (),
) -> records.ContestPair:
    """Make a pair of a proposal, as a person who says which label the changed sentence has."""
    info = find_contest(db, ref)
    row = _waiting(db, actor, info, number)
    task = get_task(db, info.task)
    draft = PairDraft(
        "",
        row.original,
        row.modified,
        None if row.gold is None else as_cell(task, row.gold),
        modified_label,
        rationale.strip() or f"Found by a search: the model says '{row.says}' instead of '{row.was}'.",
        STRATEGY,
        tuple(tags),
    )
    pair = put_pair(db, blobs, actor, ref, draft, new=True)
    with transaction(db):
        _decide(db, actor, info, number, "kept", pair.name)
    return pair


def reject_proposal(db: Session, actor: Actor, ref: str, number: int, *, undo: bool = False) -> None:
    """Put a proposal aside; with *undo*, take it up again."""
    with transaction(db):
        info = find_contest(db, ref)
        team = require_part(db, actor, info, "break")
        row = queries.proposal_of_team(db, team.id, number)
        if undo and row is not None and row.decision == "rejected":
            row.decision, row.decided_by, row.decided_at = "", None, None
            return
        _waiting(db, actor, info, number)
        _decide(db, actor, info, number, "rejected", "")


def _checked(info: ContestInfo, words: int, beam: int, budget: int, sources: Sequence[str]) -> list[WordSource]:
    """Refuse what is no way to search in this contest."""
    if not info.spec.searches:
        raise Conflict("{ref} has no automatic searches.", ref=info.ref)
    if not info.spec.starter:
        raise Conflict("{ref} has no starter set to search through.", ref=info.ref)
    most = min(MOST_WORDS, info.spec.changed_words or MOST_WORDS)
    limits = (("words", words, most), ("beam", beam, MOST_BEAM), ("budget", budget, MOST_BUDGET))
    faults = [
        Fault("is not a number from 1 to {most}", most=largest, field=name)
        for name, value, largest in limits
        if not 1 <= value <= largest
    ]
    chosen = [source for source in WORD_SOURCES if source in sources]
    if not chosen or set(sources) - set(WORD_SOURCES):
        faults.append(Fault("are not some of {known}", known=", ".join(WORD_SOURCES), field="sources"))
    if faults:
        raise BadInput(faults=faults)
    return chosen


def _to_go_on(db: Session, actor: Actor, info: ContestInfo, number: int) -> tuple[ContestSearch, int]:
    """Return a search of one's team that is not done, and how many texts it may still ask about."""
    require_phase(info, Phase.BREAK)
    shown = get_search(db, actor, info.ref, number)
    if shown.done:
        raise Conflict("This search is done.", remedy="Begin another one.")
    search = db.get_one(ContestSearch, number)
    left = info.spec.searches - queries.asked_by_team(db, search.team_id)
    return search, min(left, int(search.options["budget"]) - search.asked)


def _sentences(db: Session, blobs: Blobs, info: ContestInfo, text: str) -> list[dict[str, Any]]:
    """Return the starter sentences that contain *text*, in the order of the set."""
    names = [item.name for item in kind_of(get_task(db, info.task)).fields(get_task(db, info.task))]
    table = scan_for_scoring(blobs, get_version(db, OPERATOR, info.spec.starter)).select("id", *names, "answer")
    if text:
        schema = table.collect_schema()
        table = table.filter(contains_text({name: schema[name] for name in names}, text))
    rows: list[dict[str, Any]] = table.filter(pl.col("id").is_not_null()).collect().to_dicts()
    return rows


def _changeable(task: Task) -> list[str]:
    """Name the texts that a breaker may change."""
    return [item.name for item in kind_of(task).fields(task) if item.editable and item.type in {"text", "long_text"}]


def _texts(task: Task, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(row[name]) for row in rows for name in _changeable(task) if row.get(name)]


def _least_cost(task: Task, row: Mapping[str, Any]) -> int:
    """Count the texts that it takes to look at a sentence at all: each word left out, and itself twice."""
    return sum(sum(1 for _ in words_of(text)) + 3 for text in _texts(task, [row]))


def _proposals(
    info: ContestInfo,
    task: Task,
    row: Mapping[str, Any],
    asking: _Asking,
    offered: Substitutes,
    options: Mapping[str, Any],
) -> list[ContestProposal]:
    """Search for changes of one sentence that turn the model, within the contest's limit of words."""
    names = [item.name for item in kind_of(task).fields(task)]
    inputs = {name: row[name] for name in names if row.get(name) is not None}
    most = info.spec.changed_words or MOST_WORDS
    candidates: list[tuple[str, FlipCandidate]] = []
    for name in [name for name in _changeable(task) if inputs.get(name)]:
        limits = SearchLimits(options["beam"], options["words"], asked=asking.left)

        def ask(texts: Sequence[str], name: str = name) -> list[Mapping[str, float]]:
            return asking.about(inputs, name, texts)

        flips = flip_search(str(inputs[name]), ask, model=asking.ref, substitutes=offered, limits=limits)
        candidates += [(name, flip) for flip in flips if flip.size.tokens <= most]
    return [
        ContestProposal(
            original=inputs,
            modified={**inputs, name: flip.text},
            modified_hash=Example({**inputs, name: flip.text}).id,
            gold=row["answer"],
            was=flip.was,
            says=flip.label,
            words=flip.size.tokens,
        )
        for name, flip in candidates[:MOST_OF_A_SENTENCE]
    ]


def _waiting(db: Session, actor: Actor, info: ContestInfo, number: int) -> ContestProposal:
    """Return a proposal of one's team that waits for a decision, while breaking lasts."""
    team = require_part(db, actor, info, "break")
    require_phase(info, Phase.BREAK)
    row = queries.proposal_of_team(db, team.id, number)
    if row is None:
        raise NotFound("Your team has no proposal {number}.", number=number)
    if row.decision:
        raise Conflict("This proposal was decided about already.")
    return row


def _decide(db: Session, actor: Actor, info: ContestInfo, number: int, decision: str, pair: str) -> None:
    lock(db, f"proposal {number} of {info.ref}")
    row = db.get_one(ContestProposal, number)
    row.decision, row.pair, row.decided_by, row.decided_at = decision, pair, actor.user_id, now()


def _described(search: StoredSearch, names: Mapping[int, str], left: int) -> records.ContestSearch:
    row, options = search.row, search.row.options
    spent = row.asked >= int(options["budget"]) or not left
    return records.ContestSearch(
        number=row.id,
        model=names.get(row.model_version_id, ""),
        text=options["text"],
        words=options["words"],
        beam=options["beam"],
        budget=options["budget"],
        sources=tuple(options["sources"]),
        total=row.total,
        position=row.position,
        asked=row.asked,
        proposals=search.proposals,
        waiting=search.waiting,
        done=row.position >= row.total or spent,
    )


def _shown(task: Task, row: ContestProposal) -> records.ContestProposal:
    label = None if row.gold is None else as_cell(task, row.gold)
    return records.ContestProposal(
        row.id, row.original, row.modified, label, row.was, row.says, row.words, row.decision, row.pair
    )
