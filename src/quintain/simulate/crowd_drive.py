"""A simulated crowd at work in a trial: each does what waits for them, and stages are closed when nothing does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.collect import WritingSession
from quintain.core.records.trial import SimulatedArm, SimulatedTrial, TrialPart
from quintain.core.task import Task
from quintain.protocols.crowd.people import CrowdModel, draw_crowd
from quintain.protocols.crowd.running import TUTORIAL_LEARNING
from quintain.protocols.engine import INSTANT
from quintain.protocols.grading import rule_of
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import Stage
from quintain.services.collect.writing import submit_attempt as attempts
from quintain.services.harvest.model import sentence_field
from quintain.services.models.registry import list_names
from quintain.services.trial import model_runs, participation, reporting, rubric, stages, trials
from quintain.services.trial.pool import pool_name
from quintain.services.work.qualify import record_fact
from quintain.simulate.clock import SimulatedClock
from quintain.simulate.crowd import GRADE_SECONDS, TEXT_SECONDS, CrowdWorker, grade_item
from quintain.simulate.driving import REWRITES, begin, hire, judge_all
from quintain.simulate.language import CONSTRUCTIONS, thing_in
from quintain.simulate.people import SimulatedPerson, draw_people
from quintain.simulate.sentences import PLAIN
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.queries.trial import trials as queries

EXPERT_SECONDS = 150.0
MOST_CONTEXTS = 20  # that a tutorial may have
# What a panel knows of people who have worked there for long: shipped protocols ask for it.
FACTS = {"approval_rate": "0.99", "completed": "5000", "country": "US", "language": "en"}
Progress = Callable[[str, int, int], None]  # what is done, how much of it, and of how much


@dataclass(frozen=True, slots=True)
class CrowdSize:
    """How many take part, judge and grade; *sessions* is how many an ordinary person does where many are offered."""

    workers: int = 20
    judges: int = 12
    experts: int = 3
    sessions: int = 3
    model: CrowdModel = field(default_factory=CrowdModel)


def known_labels(task: Task) -> list[str]:
    """List the labels of a task for which simulated people can write."""
    return [name for name in task.label_names if name in CONSTRUCTIONS[PLAIN]]


@dataclass(slots=True)
class CrowdDrive:
    """A crowd on its way through a trial: *right* has the answers of its quizzes, *before* how much had happened.

    *taught* is what a letter of each stage teaches, of what one that rests on experts' grades would.
    """

    workspace: Workspace
    db: Session
    task: Task
    ref: tuple[str, str]
    seed: int
    size: CrowdSize
    time: SimulatedClock
    progress: Progress
    before: int = 0
    right: dict[tuple[str, int, str], str] = field(default_factory=dict)
    tutorials: set[str] = field(default_factory=set)
    taught: dict[str, float] = field(default_factory=dict)
    workers: list[CrowdWorker] = field(default_factory=list)
    experts: dict[str, Actor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look at what there is, and hire the people."""
        row = trials.find_trial(self.db, *self.ref)
        arms = [(arm, parse_protocol(arm.toml)) for arm in queries.arms(self.db, row.id)]
        # Who goes on after an interruption draws further, so that nothing is written twice.
        self.before = sum(queries.newest_event(self.db, arm.id) for arm, _ in arms)
        self.right = {
            (quiz.name, place, pair.ask): pair.right
            for _, protocol in arms
            for stage in protocol.stages
            for quiz in (stage.tutorial.quizzes if stage.tutorial is not None else ())
            for place, pair in enumerate(quiz.pairs, 1)
        }
        self.tutorials = {stage.name for _, protocol in arms for stage in protocol.stages if stage.tutorial is not None}
        feedback = [
            (protocol, stage) for _, protocol in arms for stage in protocol.stages if stage.feedback is not None
        ]
        self.taught = {one.name: self._teaches(protocol, one) for protocol, one in feedback}
        self.workers = self._hire()
        self.experts = hire(self.db, self._named("expert", self.size.experts), role=RoleName.EXPERT)

    def _teaches(self, protocol: Protocol, stage: Stage) -> float:
        by = stage.feedback.by if stage.feedback is not None else ""
        return 1.0 if rule_of(protocol.stage(by)).by == "experts" else self.size.model.crowd_feedback

    @property
    def blobs(self) -> Blobs:
        """Where files are."""
        return self.workspace.blobs

    @property
    def sentence(self) -> str:
        """The field that takes a sentence."""
        return sentence_field(self.task)

    def rng(self, *what: int) -> np.random.Generator:
        """Return a generator of its own for each thing that is drawn."""
        return np.random.default_rng([self.seed, self.before, *what])

    def _named(self, what: str, count: int) -> list[SimulatedPerson]:
        name = f"sim{self.seed}-{self.ref[1]}-{what}"
        return draw_people(np.random.default_rng([self.seed, len(what)]), count, name=name)

    def _hire(self) -> list[CrowdWorker]:
        people = self._named("worker", self.size.workers)
        actors = hire(self.db, people)
        crowd = draw_crowd(len(people), self.size.model, np.random.default_rng(self.seed))
        skill = crowd.skill.copy()
        workers = []
        for number, person in enumerate(people):
            for name, value in FACTS.items():
                record_fact(self.db, OPERATOR, person.name, name, value, source="simulated")
            rng = self.rng(1, number)
            workers.append(CrowdWorker(actors[person.name], number, crowd, self.size.model, skill, rng))
        return workers

    def go_through(self) -> None:
        """Let all enter, and do what there is to do at each stage until the last one is closed."""
        for number, worker in enumerate(self.workers, 1):
            participation.enter(self.db, worker.actor, *self.ref, consent=True)
            self.progress("Entering", number, len(self.workers))
        while self._turn() or self._close_next():
            pass

    def _turn(self) -> bool:
        """Let everybody do what waits for them; say whether anything did."""
        done = [self._act(worker) for worker in self.workers]
        graded = [self._grade(expert, self.size.model.expert_noise, EXPERT_SECONDS) for expert in self.experts.values()]
        return any(done) or any(graded)

    def _close_next(self) -> bool:
        """Close the next stage of each arm, although grades may be missing that nobody is left to give."""
        closed = 0
        for arm in trials.get_trial(self.db, OPERATOR, *self.ref).arms:
            stage = next((stage for stage in arm.stages if not stage.closed and stage.kind not in INSTANT), None)
            if stage is not None:
                stages.close_stage(self.db, OPERATOR, *self.ref, arm.name, stage.name, force=bool(stage.hindrances))
                self.progress(f"{arm.name}: {stage.name}", 1, 1)
                closed += 1
        return closed > 0

    def _act(self, worker: CrowdWorker) -> bool:
        """Let somebody work until nothing waits for them; say whether they did anything."""
        moved = False
        while (part := participation.trial_part(self.db, worker.actor, *self.ref)).what == "work" or part.grading:
            worker.read_letters({letter.stage: self.taught.get(letter.stage, 1.0) for letter in part.letters})
            if part.grading:
                self._grade(worker.actor, self.size.model.crowd_noise, GRADE_SECONDS)
            elif not self._work(worker, part):
                break
            moved = True
        return moved

    def _work(self, worker: CrowdWorker, part: TrialPart) -> bool:
        """Do the next thing of a stage: leave it, a quiz, or a session; False where one has done enough."""
        if part.stage not in worker.plans:
            if part.stage in self.tutorials:  # one writes there until it is done
                worker.plans[part.stage] = part.sessions_left * MOST_CONTEXTS
                worker.learn(TUTORIAL_LEARNING)
            else:
                worker.plan(part.stage, part.sessions_left, self.size.sessions)
            if worker.leaves():
                participation.leave(self.db, worker.actor, *self.ref)
                return True
        if part.quiz:
            self._quiz(worker)
        elif part.round is not None and worker.plans[part.stage] > 0:
            worker.plans[part.stage] -= 1
            return self._write(worker, f"{self.ref[0]}/{part.round}")
        else:
            return False
        return True

    def _quiz(self, worker: CrowdWorker) -> None:
        step = participation.quiz_step(self.db, worker.actor, *self.ref)
        while step is not None:
            self.time.wait(worker.takes(20.0))
            answer = worker.choose(self.right[step.quiz, step.step, step.ask])
            step = participation.answer_quiz(
                self.db, worker.actor, *self.ref, quiz=step.quiz, step=step.step, answer=answer
            )

    def _write(self, worker: CrowdWorker, ref: str) -> bool:
        """Write in a session until it is over: the model is fooled, or all is written; False where none begins."""
        try:
            session = begin(self.db, self.blobs, worker.actor, ref)
        except (Unavailable, Forbidden):  # all contexts are given out, or what may be paid is
            return False
        for number in range(session.attempts_left):
            if self._submit(worker, session, session.types[number % len(session.types)] if session.types else ""):
                break
        return True

    def _submit(self, worker: CrowdWorker, session: WritingSession, of_type: str) -> bool:
        """Submit one text, another where it is refused for what is there already; say whether the session is over."""
        prompt = str(session.prompt.inputs.get(self.sentence, "")) if session.prompt else ""
        aim = None if session.target is None else str(session.target)
        for tries in range(REWRITES):
            written = worker.compose(aim, known_labels(self.task), thing_in(prompt), again=tries > 0)
            self.time.wait(worker.takes(TEXT_SECONDS))
            try:
                verdict = attempts.submit_attempt(
                    self.db,
                    self.blobs,
                    worker.actor,
                    session.key,
                    {self.sentence: written.text},
                    target=written.label,
                    token=worker.rng.bytes(12).hex(),
                    justification=worker.justify(again=tries > 0),
                    of_type=of_type,
                )
            except (Conflict, BadInput) as error:
                if not _may_try_again(error) or tries == REWRITES - 1:
                    raise
                continue
            if verdict.ask == "confirm":
                verdict = attempts.confirm(self.db, worker.actor, verdict.attempt_id, yes=True)
            return verdict.ended
        return False

    def _grade(self, actor: Actor, noise: float, seconds: float) -> bool:
        """Grade all that waits for somebody; say whether anything did."""
        rng, done = self.rng(2, actor.user_id or 0, int(now().timestamp())), 0
        try:
            item = rubric.next_to_grade(self.db, actor, *self.ref)
        except Forbidden:  # the trial has nothing that experts grade
            return False
        while item is not None:
            text = str(item.inputs.get(self.sentence, ""))
            self.time.wait(seconds * float(np.exp(rng.normal(0.0, 0.3))))
            answers = grade_item(item, text, noise, rng)
            item = rubric.grade(self.db, actor, *self.ref, stage=item.stage, item=item.item, answers=answers)
            done += 1
        return done > 0

    def judge_and_ask(self) -> SimulatedTrial:
        """Have the final items judged, end the trial, and have models asked where the task has any."""
        reporting.open_pool(self.db, OPERATOR, *self.ref)
        people = self._named("judge", self.size.judges)
        actors = hire(self.db, people)
        judgements = judge_all(
            self.db,
            self.rng(3),
            f"{self.ref[0]}/{pool_name(self.ref[1])}",
            [(person, actors[person.name]) for person in people],
            wait=self.time.wait,
            done=lambda count: self.progress("Judging", count, count),
        )
        trials.close_trial(self.db, OPERATOR, *self.ref)
        return self._simulated(judgements, self._asked())

    def _asked(self) -> list[str]:
        if not list_names(self.db, OPERATOR, self.ref[0]):
            return []
        outcome = model_runs.run_models(self.db, self.blobs, OPERATOR, *self.ref)
        return [run.model for run in outcome.runs]

    def _simulated(self, judgements: int, models: list[str]) -> SimulatedTrial:
        record = trials.get_trial(self.db, OPERATOR, *self.ref)
        read = reporting.arms_of(self.db, self.blobs, OPERATOR, *self.ref)
        written: Mapping[str, Sequence[str]] = {one.name: [item.writer for item in one.items] for one in read}
        people = sum(arm.people for arm in record.arms)
        finalists = sum(len({*one}) for one in written.values())
        arms = [
            SimulatedArm(arm.name, arm.people, len({*written[arm.name]}), len(written[arm.name])) for arm in record.arms
        ]
        return SimulatedTrial(
            *self.ref,
            self.seed,
            people,
            people - finalists,
            arms,
            judgements,
            models,
        )


def _may_try_again(error: Conflict | BadInput) -> bool:
    """Whether something else can be written: the text is there already, or its justification was not taken."""
    if isinstance(error, Conflict):
        return error.code == "duplicate_text"
    return any(fault.field == "justification" for fault in error.faults)
