"""The client's calls about rounds that carry files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from quintain.client.calls.pay import PayCalls
from quintain.client.calls.rounds import RoundsCalls
from quintain.client.refs import format_of, ref_path, task_path
from quintain.core.errors import NotFound
from quintain.core.records.collect import PromptReport, Round
from quintain.core.records.jobs import JobStanding


class RoundClient(RoundsCalls, PayCalls):
    """What `Client` can ask about rounds (`task/number`)."""

    def import_prompts(
        self,
        ref: str,
        path: Path | str,
        *,
        corpus: str = "",
        part: str = "",
        tags: Sequence[str] = (),
        contexts: bool = False,
    ) -> PromptReport:
        """Add the prompts of a table to a round (owners), and count what was added and what was left out, and why.

        What other rounds of the task have shown, or a harvest has taken, is left out: `used` by itself, `used_parts` by
        its part of the corpus, `used_reviews` by its review. Any further columns are kept with the prompts.
        Of *contexts* only what writers may not change is taken.
        """
        source = Path(path)
        if not source.is_file():
            raise NotFound("There is no file {source}.", source=source)
        with source.open("rb") as stream:
            return self._transport.read(
                PromptReport,
                "POST",
                f"{ref_path(ref, 'rounds')}/prompts",
                data={
                    "corpus": corpus,
                    "part": part,
                    "tags": ",".join(tags),
                    "contexts": str(contexts).lower(),
                },
                files={"file": (source.name, stream)},
            )

    def add_harvest(self, task: str, path: Path | str, *, title: str = "", model: str = "", policy: str = "") -> Round:
        """Make the sample of a harvest the task's next round, and open its validation (owners).

        *model* names the one that it was harvested with, where the sample does not; *policy* is a TOML text.
        """
        source = Path(path)
        if not source.is_file():
            raise NotFound("There is no file {source}.", source=source)
        with source.open("rb") as stream:
            return self._transport.read(
                Round,
                "POST",
                f"{task_path(task)}/harvests",
                data={"title": title, "model": model, "policy": policy},
                files={"file": (source.name, stream)},
            )

    def start_harvest(
        self,
        task: str,
        model: str,
        corpus: Path | str | None = None,
        *,
        dataset: str = "",
        columns: Mapping[str, str] | None = None,
        **options: str | int,
    ) -> JobStanding:
        """Have a worker harvest from a file, or from a *dataset*, and make the sample the task's next round (owners).

        *columns* maps `text`, `rating` and `id` to columns of the file. The *options* are `rules` (`contradictions`,
        `labels`, `unsure` or TOML), `where`, `size`, `seed`, `title` and `policy`. `job` says how far it is, and its
        result names the round.
        """
        fields = {"model": model, "dataset": dataset, **(columns or {}), **options}
        address = f"{task_path(task)}/harvests/jobs"
        if corpus is None:
            return self._transport.read(JobStanding, "POST", address, data=fields)
        source = Path(corpus)
        if not source.is_file():
            raise NotFound("There is no file {source}.", source=source)
        with source.open("rb") as stream:
            files = {"file": (source.name, stream)}
            return self._transport.read(JobStanding, "POST", address, data=fields, files=files)

    def download_attempts(
        self,
        ref: str,
        path: Path | str,
        *,
        format: str | None = None,  # noqa: A002 - the API's word
        fooling: bool = False,
    ) -> Path:
        """Write a round's attempts, with other names for the writers; the file's ending chooses the format (owners).

        With *fooling*, only those that fooled the model.
        """
        target = Path(path)
        params = {"format": format_of(target, format), "fooling": str(fooling).lower()}
        self._transport.fetch(f"{ref_path(ref, 'rounds')}/attempts", target, params=params)
        return target
