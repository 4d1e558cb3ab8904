"""Trials of protocols, for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from quintain.core.editing import EditOrigin
from quintain.core.records.report import Report
from quintain.core.records.trial import (
    CrowdTrial,
    CrowdTrials,
    GradingTask,
    LetterDrafts,
    NextGrading,
    NextStep,
    PoolAdded,
    TrialCosts,
    TrialEntries,
    TrialModels,
    TrialPart,
)
from quintain.data.trials import trial_bytes
from quintain.services.trial import (
    costs,
    letters,
    model_runs,
    panel_entry,
    participation,
    reporting,
    rubric,
    stages,
    stored_report,
    trials,
)
from quintain.services.trial.contexts import DEFAULT_GENRE
from quintain.services.trial.trials import OpenTrial
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, Limit, Offset, PersonName, Revision, TaskName, TrialName
from quintain.web.api.shapes import LongText, Shape, Text
from quintain.web.files import rows_on_disk, send_bytes
from quintain.web.report_files import ReportFormat, send_file

ArmName = Annotated[str, Path(description="Name of the arm.", max_length=40, pattern=r"^[a-z0-9_-]+$")]
StageName = Annotated[str, Path(description="Name of the stage.", max_length=40, pattern=r"^[a-z0-9_-]+$")]


class TrialDefinition(Shape):
    """A trial: a protocol, as a TOML file, for each arm."""

    protocols: Annotated[list[LongText], Field(min_length=1, max_length=12)]
    title: Text = ""


class OpeningRequest(Shape):
    """What a trial is opened with: a data set with the contexts, or those themselves; their stratum; models to fool.

    A context has the fields that writers may not change, such as `passage`, and may have `tags` and its genre.
    """

    source: Text = ""
    contexts: Annotated[list[dict[str, Any]], Field(max_length=20_000)] = Field(default_factory=list)
    most: Annotated[int, Field(ge=0, le=10**6, description="Take at most so many; 0 for what is needed.")] = 0
    models: Annotated[tuple[Text, ...], Field(max_length=20)] = ()
    genre: Annotated[str, Field(max_length=80)] = DEFAULT_GENRE


class EnteringRequest(Shape):
    """Whether one agrees to what the trial asks people to agree to."""

    consent: bool = False


class ClosingRequest(Shape):
    """Whether to close a stage although grades are missing."""

    force: bool = False


class ReadmittingRequest(Shape):
    """Whom to let go on."""

    person: Text


class QuizAnswer(Shape):
    """The answer to one step of a tutorial's quiz: first or second."""

    quiz: Text
    step: Annotated[int, Field(ge=1, le=1000)]
    answer: Text


class GradeRequest(Shape):
    """A grade: one option for each question of the rubric."""

    stage: Text
    item: Text
    answers: dict[str, Any]


class DoorsRequest(Shape):
    """How people from panels come into a trial and go back, as a TOML file."""

    toml: LongText


class ModelsRequest(Shape):
    """Which models to run: by their names or as NAME@VERSION; none means the newest version of each."""

    models: Annotated[tuple[Text, ...], Field(max_length=200)] = ()


class LetterText(Shape):
    """The text of a letter."""

    text: LongText


class ReplyRequest(Shape):
    """A reply to a letter, or an appeal against it."""

    text: LongText
    appeal: bool = False


def list_trials(call: Calling, task: TaskName, offset: Offset = 0, limit: Limit = 100) -> CrowdTrials:
    """List the trials of a task, the newest first."""
    return CrowdTrials(trials.list_trials(call.db, call.actor, task, offset=offset, limit=limit))


def get_trial(call: Calling, task: TaskName, trial: TrialName) -> CrowdTrial:
    """Return a trial; where its arms stand, for owners only."""
    return trials.get_trial(call.db, call.actor, task, trial)


def put_trial(
    call: Calling, task: TaskName, trial: TrialName, definition: TrialDefinition, edit: Changing
) -> CrowdTrial:
    """Add a trial, or change one that is not open yet."""
    return trials.put_trial(call.db, call.actor, task, trial, definition.protocols, title=definition.title, edit=edit)


def open_trial(call: Calling, task: TaskName, trial: TrialName, opening: OpeningRequest) -> CrowdTrial:
    """Let people enter; from now on the protocols never change."""
    with rows_on_disk(opening.contexts, "contexts.jsonl") as file:
        options = OpenTrial(opening.source, opening.models, opening.genre, file, opening.most)
        return trials.open_trial(call.db, call.blobs, call.actor, task, trial, options)


def close_trial(call: Calling, task: TaskName, trial: TrialName) -> CrowdTrial:
    """End a trial; its rounds close."""
    return trials.close_trial(call.db, call.actor, task, trial)


def close_stage(
    call: Calling, task: TaskName, trial: TrialName, arm: ArmName, stage: StageName, closing: ClosingRequest
) -> CrowdTrial:
    """Close a stage of an arm: those who wait there go on."""
    return stages.close_stage(call.db, call.actor, task, trial, arm, stage, force=closing.force)


def readmit(
    call: Calling, task: TaskName, trial: TrialName, arm: ArmName, stage: StageName, readmitting: ReadmittingRequest
) -> CrowdTrial:
    """Let somebody go on whom a qualification turned away, as after an appeal."""
    person = readmitting.person
    return stages.readmit(call.db, call.actor, task, trial, arm=arm, stage=stage, person=person)


def list_letters(call: Calling, task: TaskName, trial: TrialName, arm: ArmName, stage: StageName) -> LetterDrafts:
    """List the letters of a stage of feedback, with the replies."""
    return LetterDrafts(letters.letters(call.db, call.actor, task, trial, arm, stage))


def edit_letter(  # noqa: PLR0917 - the parts of the address
    call: Calling,
    task: TaskName,
    trial: TrialName,
    arm: ArmName,
    stage: StageName,
    name: PersonName,
    letter: LetterText,
    revision: Revision = "",
) -> None:
    """Change a letter before it goes out."""
    letters.edit_letter(
        call.db, call.actor, task, trial, arm=arm, stage=stage, person=name, text=letter.text, edit=EditOrigin(revision)
    )


def answer_reply(  # noqa: PLR0917 - the parts of the address
    call: Calling,
    task: TaskName,
    trial: TrialName,
    arm: ArmName,
    stage: StageName,
    name: PersonName,
    answer: LetterText,
) -> None:
    """Answer what somebody replied to their letter."""
    letters.answer_reply(call.db, call.actor, task, trial, arm=arm, stage=stage, person=name, text=answer.text)


def enter_trial(call: Calling, task: TaskName, trial: TrialName, entering: EnteringRequest | None = None) -> TrialPart:
    """Take part in a trial; `consent` says that one agrees to what it asks people to agree to."""
    consent = entering is not None and entering.consent
    return participation.enter(call.db, call.actor, task, trial, consent=consent)


def leave_trial(call: Calling, task: TaskName, trial: TrialName) -> TrialPart:
    """Leave a trial; what was finished is paid."""
    return participation.leave(call.db, call.actor, task, trial)


def get_trial_part(call: Calling, task: TaskName, trial: TrialName) -> TrialPart:
    """Return where one stands in a trial, and what comes next."""
    return participation.trial_part(call.db, call.actor, task, trial)


def get_quiz_step(call: Calling, task: TaskName, trial: TrialName) -> NextStep:
    """Return the next step of the tutorial's quizzes, if there is one."""
    return NextStep(participation.quiz_step(call.db, call.actor, task, trial))


def answer_quiz_step(call: Calling, task: TaskName, trial: TrialName, body: QuizAnswer) -> NextStep:
    """Answer one step of a quiz, and get the next."""
    step = participation.answer_quiz(
        call.db, call.actor, task, trial, quiz=body.quiz, step=body.step, answer=body.answer
    )
    return NextStep(step)


def reply_to_letter(call: Calling, task: TaskName, trial: TrialName, stage: StageName, body: ReplyRequest) -> None:
    """Reply to a letter, or appeal against it."""
    letters.reply(call.db, call.actor, task, trial, stage, body.text, appeal=body.appeal)


def get_grading_task(call: Calling, task: TaskName, trial: TrialName) -> NextGrading:
    """Be given an item to grade, if one waits; until it is graded or its time is over, one gets the same again."""
    return NextGrading(rubric.next_to_grade(call.db, call.actor, task, trial))


def get_grade(
    call: Calling,
    task: TaskName,
    trial: TrialName,
    back: Annotated[int, Query(description="1 is the newest grade, 2 the one before.", ge=1, le=10_000)] = 1,
) -> GradingTask:
    """Return a grade that one gave before, while it can be changed."""
    return rubric.graded_before(call.db, call.actor, task, trial, back)


def change_grade(call: Calling, task: TaskName, trial: TrialName, body: GradeRequest) -> NextGrading:
    """Change a grade that one gave, and get the next item."""
    answers = {name: str(value) for name, value in body.answers.items()}
    next_item = rubric.change_grade(call.db, call.actor, task, trial, stage=body.stage, item=body.item, answers=answers)
    return NextGrading(next_item)


def grade_item(call: Calling, task: TaskName, trial: TrialName, body: GradeRequest) -> NextGrading:
    """Grade an item that one was given, by the rubric, and get the next."""
    answers = {name: str(value) for name, value in body.answers.items()}
    next_item = rubric.grade(call.db, call.actor, task, trial, stage=body.stage, item=body.item, answers=answers)
    return NextGrading(next_item)


def get_trial_costs(call: Calling, task: TaskName, trial: TrialName) -> TrialCosts:
    """Return what a question has cost in each arm: with training and without; and what the judging has cost."""
    return costs.trial_costs(call.db, call.actor, task, trial)


def get_trial_doors(call: Calling, task: TaskName, trial: TrialName) -> TrialEntries:
    """Return the addresses that panels send people to, to take part and to grade (owners)."""
    return panel_entry.get_doors(call.db, call.actor, task, trial, base_url=call.base_url)


def put_trial_doors(
    call: Calling, task: TaskName, trial: TrialName, body: DoorsRequest, edit: Changing
) -> TrialEntries:
    """Set how people from panels come into a trial and go back (owners)."""
    return panel_entry.put_doors(call.db, call.actor, task, trial, body.toml, base_url=call.base_url, edit=edit)


def open_trial_pool(call: Calling, task: TaskName, trial: TrialName) -> PoolAdded:
    """Let the final items of all arms be judged, in one pool."""
    pool = reporting.open_pool(call.db, call.actor, task, trial)
    return PoolAdded(pool.added, pool.repeats)


def get_trial_models(call: Calling, task: TaskName, trial: TrialName) -> TrialModels:
    """Return which models are run on the final items of a trial, and how far each is (owners)."""
    return model_runs.get_models(call.db, call.actor, task, trial)


def run_trial_models(call: Calling, task: TaskName, trial: TrialName, body: ModelsRequest) -> TrialModels:
    """Have models run on the final items of a trial, once they are judged (owners).

    Asking again adds models, and has those tried again that failed.
    """
    return model_runs.run_models(call.db, call.blobs, call.actor, task, trial, body.models)


def export_trial(call: Calling, task: TaskName, trial: TrialName) -> Response:
    """Send all of a trial as one file: texts, grades, judgements, what models said; people under other names (owners).

    `quintain trial report` and `qt.trial` read it.
    """
    arms = reporting.arms_of(call.db, call.blobs, call.actor, task, trial)
    return send_bytes(trial_bytes(arms), f"{task}-trial-{trial}.json", "application/json")


def get_trial_report(call: Calling, task: TaskName, trial: TrialName) -> Report:
    """Report on a trial; of one with many judgements a worker makes it, the first time too."""
    return stored_report.get_report(call.db, call.blobs, call.actor, task, trial)


def download_trial_report(
    call: Calling,
    task: TaskName,
    trial: TrialName,
    format: Annotated[ReportFormat, Query(description="Format of the file; a ZIP has all of them.")] = "html",  # noqa: A002 - the word in the address
) -> Response:
    """Send the report of a trial as a file."""
    report = stored_report.get_report(call.db, call.blobs, call.actor, task, trial)
    return send_file(report, f"{task}-trial-{trial}", format)
