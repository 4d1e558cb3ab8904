"""What each kind of job is called, and the page on which what came of it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from quintain.core.records.jobs import JobStanding
from quintain.services.study.stored_reports import ReportKey

RELEASES = {"export:bundle", "look at release", "release"}
REPORT = "figure:report "
CONTESTS = {"figure:contest pairs", "figure:contest score"}
VALIDATIONS = {"figure:validation", "open validation", "take in attempts"}


@dataclass(frozen=True, slots=True)
class NamedJob:
    """A job as the list shows it: *about* is empty where its task says it all, *url* where no page shows it."""

    job: JobStanding
    title: str
    about: str
    url: str


def titles(_: Callable[[str], str]) -> Mapping[str, str]:
    """Name every kind of job."""
    return {
        "baselines": _("Training of the baselines"),
        "approve pay": _("Approving what people earned"),
        "check": _("Check of kept figures"),
        "comparison": _("Comparison of two models"),
        "export:attempts": _("Export of texts"),
        "export:bundle": _("Release as a file"),
        "export:judgements": _("Export of judgements"),
        "export:labels": _("Export of labels"),
        "figure:ability": _("Abilities of models"),
        "figure:board": _("Board"),
        "figure:contest pairs": _("Pairs of a contest"),
        "figure:contest score": _("Results of a contest"),
        "figure:report compare": _("Report on texts"),
        "figure:report models": _("Report on models"),
        "figure:report relabel": _("Report on old and new labels"),
        "figure:report workers": _("Report on who did the work"),
        "figure:round": _("Figures of a round"),
        "figure:trial report": _("Report of a trial"),
        "figure:uncertainty": _("How sure a board is"),
        "figure:validation": _("Figures of a validation"),
        "harvest": _("Harvest"),
        "import": _("Import of a data set"),
        "look at release": _("Look at a release"),
        "open validation": _("Taking items into a validation"),
        "release": _("Release"),
        "review": _("Review of what is new"),
        "review and apply": _("Review of judges, applied"),
        "review and look": _("Review of judges, to look at"),
        "review now": _("Review of judges"),
        "study": _("Report"),
        "take in attempts": _("Taking new texts into a validation"),
    }


def name_job(_: Callable[[str], str], job: JobStanding) -> NamedJob:
    """Return in words what *job* does and what about, and where it can be read."""
    if not job.task and job.subject:  # figures that nobody asked for belong to no task's list, and are of one still
        job = replace(job, task=re.split("[/?]", job.subject)[0])
    address_of = _release if job.kind in RELEASES else _report if job.kind.startswith(REPORT) else _about_and_address
    about, address = address_of(job)
    return NamedJob(job, titles(_).get(job.kind, job.kind), about, f"/tasks/{job.task}/{address}" if address else "")


def _about_and_address(job: JobStanding) -> tuple[str, str]:
    name = job.subject.removeprefix(job.task)[1:]
    ref = name.split(" ")[0]
    if job.kind in CONTESTS:
        contest = name.partition("#")[0]
        return contest, f"contests/{contest}/results"
    own = {
        "study": f"studies/{name}",
        "import": f"data/{name}" if job.result else "data",
        "figure:round": f"rounds/{name}",
        "approve pay": f"rounds/{name}/pay",
        "figure:trial report": f"trials/{name}/report",
        "export:attempts": f"rounds/{ref}",
        "export:judgements": f"validation/{ref}",
        "export:labels": f"validation/{ref}",
    }
    if job.kind == "harvest":
        return str(job.result.get("round", "")), f"harvests/{job.id}"
    if job.kind in own:
        return name, own[job.kind]
    if job.kind in VALIDATIONS or job.kind.startswith("review"):
        return name, f"validation/{name}"
    if job.kind in {"comparison", "baselines"}:
        return "", "compare" if job.kind == "comparison" else "models"
    return "", "board" if job.kind.startswith("figure:") else ""


def _release(job: JobStanding) -> tuple[str, str]:
    validation = job.subject.split(" ")[0].split("/")[1]
    asked = "" if job.kind.startswith("export:") else f"?job={job.id}"
    return validation, f"validation/{validation}/release{asked}"


def _report(job: JobStanding) -> tuple[str, str]:
    request = ReportKey.read(job.subject).wanted
    named = {"rounds": request.rounds, "harvests": request.harvests, "validation": filter(None, [request.validation])}
    asked = [(name, value) for name, values in named.items() for value in values]
    address = f"reports/{request.kind}"
    return ", ".join(str(one) for _, one in asked), f"{address}?{urlencode(asked)}" if asked else address
