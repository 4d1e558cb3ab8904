"""The datasheet of a release: the questions of Gebru et al. (2021), answered from the record where it knows.

What only its owner can answer is what they answered before it was made; else it is marked as open, and never made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quintain.core.datasheet import question
from quintain.core.escaping import markdown, markdown_block
from quintain.core.records.release import Release, ReleasePeople
from quintain.core.rounds import RoundKind, RoundSpec
from quintain.core.task import Task
from quintain.services.release.markdown import label_rows, table

OPEN = "**Open: for the owner to answer.**"
CONSENT = "Yes; the text is kept with the round."


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """What a datasheet is written from: the release, its task, and the round that was validated, if one."""

    task: Task
    release: Release
    kind: RoundKind | None = None
    round: RoundSpec | None = None
    licenses: Sequence[str] = ()


def datasheet(facts: SheetFacts) -> str:
    """Write the datasheet as Markdown."""
    release, task = facts.release, facts.task
    title = task.title.get("en") or next(iter(task.title.values()), task.name)
    parts = [
        f"# Datasheet: {markdown(title)}, release {release.number} of {markdown(release.validation)}",
        "After Gebru et al., *Datasheets for Datasets* (2021). Figures are from the record of the platform.",
        *_motivation(facts),
        *_composition(facts),
        *_collection(facts),
        *_labelling(facts),
        *_uses(facts),
        *_distribution(facts),
        "## Maintenance",
        "**Will it be updated?** A release never changes. What is released later has another number, and its changelog "
        "says what is different.",
        _answered(facts, "maintainer"),
    ]
    return "\n\n".join(parts) + "\n"


def _answered(facts: SheetFacts, name: str, known: str = "") -> str:
    """Write a question with what is *known* and what the owner answered, or say that it is open."""
    answer = facts.release.report.answers.get(name, "").strip()
    answer_text = "\n\n".join(part for part in (known, markdown_block(answer)) if part)
    return f"**{question(name)}** {answer_text or OPEN}"


def _motivation(facts: SheetFacts) -> list[str]:
    model = facts.release.report.model
    instructions = facts.task.instructions.get("en") or next(iter(facts.task.instructions.values()), "")
    asked = ["**What were people asked?**", _quoted(instructions)] if instructions else []
    return [
        "## Motivation",
        f"**For what purpose was it made?** To evaluate and train models of the task {markdown(facts.task.name)}"
        + (f" on examples at which {markdown(model)} fails." if model else "."),
        *asked,
        _answered(facts, "makers"),
    ]


def _composition(facts: SheetFacts) -> list[str]:
    report = facts.release.report
    splits = ", ".join(f"{split.split} {split.rows:,}" for split in report.splits)
    hidden = [split.split for split in report.splits if split.hidden]
    languages = ", ".join(facts.task.languages)
    flags = [(flag, count) for split in report.splits for flag, count in split.flags.items()]
    parts = [
        "## Composition",
        f"**What do the instances represent, and how many are there?** {sum(split.rows for split in report.splits):,} "
        f"texts ({splits}) of {report.items:,} that were judged, in {markdown(languages)}.",
        table(*label_rows(report)),
        "**Is any information missing?** "
        + (f"The labels of {' and '.join(hidden)} are withheld, so that models can be scored." if hidden else "No."),
        "**Are there recommended splits?** Yes: those above. The report proves what holds in each.",
        "**Are there errors, noise or redundancies?** Items whose votes agree less, or that nearly repeat another, are "
        "in train only, or left out.",
    ]
    if flags:
        parts.append(table(["flagged in train", "items"], flags))
    if report.left_out:
        parts.append(table(["left out", "items"], report.left_out.items()))
    warning = facts.task.content_warning.get("en") or next(iter(facts.task.content_warning.values()), "")
    parts.append(_answered(facts, "distress", markdown_block(warning)))
    parts.append(_answered(facts, "personal"))
    return parts


def _collection(facts: SheetFacts) -> list[str]:
    report, people = facts.release.report, facts.release.report.people
    if facts.kind is RoundKind.HARVEST:
        how = f"Sentences were harvested from a corpus with {markdown(report.model or 'a model')}, then judged."
    elif facts.kind is RoundKind.WRITING:
        how = f"People wrote them at {markdown(report.model or 'a model')}, then others judged them."
    else:
        how = "They come from elsewhere, and were judged here."
    parts = ["## Collection process", f"**How were the texts acquired?** {how}"]
    if facts.round and facts.kind is RoundKind.WRITING:
        paid = facts.round.reward
        pay = f"{paid.base} for a session of about {facts.round.minutes:g} minutes" if paid.amount else "nothing"
        writers = f"{people.writers:,} people wrote" if people else "People wrote"
        parts.append(f"**Who wrote, and how were they paid?** {writers}; they were paid {pay}.")
        parts.append(_answered(facts, "consent", CONSENT if facts.round.consent else ""))
    parts.append(_answered(facts, "review"))
    return parts


def _labelling(facts: SheetFacts) -> list[str]:
    people = facts.release.report.people
    parts = ["## Preprocessing, cleaning, labelling"]
    if people is None:
        return [*parts, f"**How were labels made?** {OPEN}"]
    pay = f"A page of {people.page_size} items paid {people.reward}." if people.reward else "Judging was not paid."
    judged = (
        f"{people.judges:,} judges gave {people.given:,} judgements, {people.per_item} for an item; {people.kept:,}"
    )
    if people.everybody > people.judges:
        judged = (
            f"{people.everybody:,} people gave {people.given:,} judgements, {people.per_item} for an item; "
            f"{people.kept:,} by {people.judges:,} of them"
        )
    pace = f" The median judgement took {people.seconds:.1f} s." if people.seconds is not None else ""
    parts.append(
        f"**How were labels made?** {judged} count. The method is {markdown(people.method)}, and a label needs "
        f"{people.minimum} votes. "
        f"{'The label that the writer aimed at is a vote, too. ' if people.writer else ''}{pay}{pace}"
    )
    if people.often:
        parts.append(
            f"**Was everything judged equally often?** No: {people.often:,} items, drawn by a seed, were to get "
            f"{people.often_judgements} judgements; each says in its `meta` how many it was to get (`asked`)."
        )
    if facts.kind is RoundKind.WRITING and people.unfooled < 1:
        parts.append(
            f"**Is it a sample?** Of the attempts that did not fool the model, {people.unfooled:.0%} were judged, "
            "drawn by a seed."
        )
    parts.append(_removed(people))
    return parts


def _removed(people: ReleasePeople) -> str:
    """Return whom unqualification removed, and what labels would be had they stayed."""
    question = "**Whose judgements were removed, and does it matter?**"
    if not people.unqualified and not people.set_aside:
        return f"{question} Nobody's."
    rules = ", ".join(f"{markdown(rule)} {count}" for rule, count in people.rules.items())
    gone = "1 judge was" if people.unqualified == 1 else f"{people.unqualified:,} judges were"
    changed = people.other_label + people.no_label + people.new_label
    return (
        f"{question} {gone} unqualified ({rules or 'and requalified'}), and "
        f"{people.set_aside:,} judgements set aside; their work {'was paid and ' if people.reward else ''}is kept. Had "
        "they stayed, "
        f"{changed:,} of the {people.compared:,} items that they judged would be labelled otherwise: "
        f"{people.other_label:,} with another label, {people.no_label:,} with none, {people.new_label:,} with one "
        "where there is none now."
    )


def _uses(facts: SheetFacts) -> list[str]:
    report = facts.release.report
    votes = "as majority labels, or as the distribution of votes"
    chance = (
        f" {markdown(report.model)} is at chance on dev and test by construction, so its score says nothing."
        if any(split.f1 for split in report.splits if split.split != "train")
        else ""
    )
    return [
        "## Uses",
        f"**What can it be used for?** To train models ({votes}) and to evaluate them.{chance}",
        _answered(facts, "misuse"),
    ]


def _distribution(facts: SheetFacts) -> list[str]:
    versions = "\n".join(f"- {split}: `{ref}`" for split, ref in facts.release.versions.items())
    when = f" on {facts.release.created_at:%Y-%m-%d}" if facts.release.created_at else ""
    return [
        "## Distribution",
        f"**What is distributed, and when?** Released{when}. Writers and judges are under other names.",
        versions,
        _answered(facts, "licence", markdown(", ".join(facts.licenses))),
    ]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in markdown_block(text).strip().splitlines())
