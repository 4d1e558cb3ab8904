"""`quintain trial letters|edit-letter|reply|answer|readmit`: what people are told, and what they say to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line
from quintain.cli.plain.trial import app
from quintain.cli.streams import in_file
from quintain.cli.trial.trial import TrialArgument, print_trial, split_ref
from quintain.core.editing import EditOrigin
from quintain.core.people import OPERATOR
from quintain.core.records.trial import LetterDraft
from quintain.data.text import read_bytes
from quintain.services.trial import letters as letters_
from quintain.services.trial import stages

ArmArgument = Annotated[str, typer.Argument(help="The arm.")]
StageArgument = Annotated[str, typer.Argument(help="The stage of feedback, or the qualification.")]
PersonArgument = Annotated[str, typer.Argument(help="Whose letter it is.")]
TextArgument = Annotated[str, typer.Argument(help="What is said.")]


@app.command()
def letters(
    context: typer.Context, ref: TrialArgument, arm: ArmArgument, stage: StageArgument, json: JsonFlag = False
) -> None:
    """Show the letters of a stage as they would go out, or went, with the replies and the answers.

    Example: quintain trial letters sentiment/first crowd feedback-1
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        drafts = letters_.letters(db, OPERATOR, task, name, arm, stage)
    if json:
        print_json(drafts)
        return
    for draft in drafts:
        _show(draft)


@app.command(name="edit-letter")
def edit_letter(
    context: typer.Context,
    ref: TrialArgument,
    arm: ArmArgument,
    stage: StageArgument,
    person: PersonArgument,
    file: Annotated[Path, in_file("The letter as it is to go out; - is standard input.")],
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Change a letter before it goes out, which is when its stage is closed.

    Example: quintain trial edit-letter sentiment/first crowd feedback-1 wanda letter.txt
    """
    task, name = split_ref(ref)
    text = read_bytes(file).decode()
    with workspace_of(context).session() as db:
        letters_.edit_letter(
            db, OPERATOR, task, name, arm=arm, stage=stage, person=person, text=text, edit=EditOrigin(revision)
        )
        drafts = letters_.letters(db, OPERATOR, task, name, arm, stage)
    _give_one(drafts, person, json=json)


@app.command()
def reply(
    context: typer.Context,
    ref: TrialArgument,
    arm: ArmArgument,
    stage: StageArgument,
    person: PersonArgument,
    text: TextArgument,
    appeal: Annotated[bool, typer.Option("--appeal", help="They ask to look at the decision again.")] = False,
    json: JsonFlag = False,
) -> None:
    """Note what somebody replied to their letter by another way, such as by mail.

    Example: quintain trial reply sentiment/first crowd qualify-1 wanda "My second item can be answered." --appeal
    """
    task, name = split_ref(ref)
    replied = {"arm": arm, "stage": stage, "person": person, "text": text}
    with workspace_of(context).session() as db:
        letters_.note_reply(db, OPERATOR, task, name, **replied, appeal=appeal)
        drafts = letters_.letters(db, OPERATOR, task, name, arm, stage)
    _give_one(drafts, person, json=json)


@app.command()
def answer(
    context: typer.Context,
    ref: TrialArgument,
    arm: ArmArgument,
    stage: StageArgument,
    person: PersonArgument,
    text: TextArgument,
    json: JsonFlag = False,
) -> None:
    """Answer what somebody replied to their letter; they are told.

    Example: quintain trial answer sentiment/first crowd qualify-1 wanda "We have looked again, and you go on."
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        letters_.answer_reply(db, OPERATOR, task, name, arm=arm, stage=stage, person=person, text=text)
        drafts = letters_.letters(db, OPERATOR, task, name, arm, stage)
    _give_one(drafts, person, json=json)


@app.command()
def readmit(
    context: typer.Context,
    ref: TrialArgument,
    arm: ArmArgument,
    stage: Annotated[str, typer.Argument(help="The qualification that turned them away.")],
    person: Annotated[str, typer.Argument(help="Whom to let go on.")],
    json: JsonFlag = False,
) -> None:
    """Let somebody go on whom a qualification turned away, as after an appeal.

    Example: quintain trial readmit sentiment/first crowd qualify-1 wanda
    """
    task, name = split_ref(ref)
    with workspace_of(context).session() as db:
        trial = stages.readmit(db, OPERATOR, task, name, arm=arm, stage=stage, person=person)
    print_trial(trial, json=json)


def _give_one(drafts: list[LetterDraft], person: str, *, json: bool) -> None:
    letter = next(draft for draft in drafts if draft.person == person)
    if json:
        print_json(letter)
    else:
        _show(letter)


def _show(letter: LetterDraft) -> None:
    print_line(f"To {letter.person}{' (sent)' if letter.sent else ''}:\n{letter.text}\n")
    if letter.reply:
        print_line(f"{'Appeal' if letter.appeal else 'Reply'}: {letter.reply}\n")
    if letter.answer:
        print_line(f"Answer: {letter.answer}\n")
