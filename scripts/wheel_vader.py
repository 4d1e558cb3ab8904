"""Turn the wheel twice with real human ratings: the VADER snippets from Amazon and film reviews.

Usage: `python scripts/wheel_vader.py FOLDER [--out docs/wheel-vader.md] [--items 1800] [--seed 1]`, where FOLDER holds
the files of Hutto & Gilbert (2014), whose snippets were each rated by 15 to 20 people from -4 to 4.

Nobody is simulated: what a judge says to a snippet is what one of its raters said, as a label (below zero, zero, above
zero). The rater in the k-th place of each list is judge k; these are not the same person everywhere, so that no judge
is reviewed. Hardly any film snippet is neutral, so that each round has films and one half of the Amazon snippets.

Model 0 learns from the starter data and some film snippets. Round 1 is harvested with it and judged by five raters;
what is released trains Model 1, with which round 2 is harvested, and so on. The report is written as Markdown, and
every number in it comes from the run.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import json
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR
from quintain.core.records.release import Release
from quintain.core.records.wheel import RoundParity
from quintain.core.release import ReleaseSpec
from quintain.core.validation import ValidationPolicy
from quintain.data.harvest_rules import parse_rules
from quintain.data.plan import ImportPlan
from quintain.services.data.datasets import import_dataset
from quintain.services.harvest.run import Harvesting, harvest
from quintain.services.harvest.stored_model import target_from_workspace
from quintain.services.house.demo import add_starter_tasks
from quintain.services.models.train import train
from quintain.services.release.releases import release
from quintain.services.tasks.board_settings import let_score
from quintain.services.validate.console.item_files import open_with_items
from quintain.services.validate.policy import dump_policy
from quintain.services.validate.quality.vmer import error_rates
from quintain.services.wheel import standings
from quintain.settings import Settings
from quintain.simulate.driving import hire, judge_all
from quintain.simulate.judges import Judged
from quintain.simulate.people import SimulatedPerson, draw_people
from quintain.simulate.stations import TASK
from quintain.simulate.wheel import run_plain

LABELS = ("positive", "negative", "neutral")
AMAZON, MOVIES = "amazonReviewSnippets", "movieReviewSnippets"
RATERS = 15  # the fewest that any snippet has
FILMS_TO_LEARN, FILMS_TO_HARVEST = 200, 600
# A snippet that falls into several sentences is left out: its ratings are of the whole. The
# sample has as many of each label that the model gives.
RULES = """
where = "sentences == 1"
[limits]
words = [3, 60]
[[strata]]
name = "every prediction alike"
across = ["predicted"]
share = 1.0
"""
ITEMS = 1800
ABOUT = """
This page is written by `python scripts/wheel_vader.py FOLDER --out docs/wheel-vader.md --items {items} --seed
{seed}`; every number comes from that run, which took {seconds:.0f} s of processor time. The data are the Amazon and
film snippets of Hutto & Gilbert (2014), each rated by 15 to 20 people from −4 to 4. A rating below, at or above zero
is a vote for negative, neutral or positive; the snippet's own raters are the judges, and five of them judge each
item. Hardly any film snippet is neutral, so that both rounds have film snippets and one half of Amazon's. Model 0
learned from the starter data and other film snippets; round 1 was harvested with Model 0 as target, round 2 with
Model 1. Nobody wrote anything, and nobody is simulated.
"""
SCORED = """
Macro F1 on the hidden test of each round, with 95 % intervals over items. The target of a round is at chance on it
because the release sees to it; people are measured by their own votes, each against what the others say.
"""
WIDTH = 120
SECONDS = 5.0  # nobody noted how long a rating took


@dataclass(frozen=True, slots=True)
class Snippet:
    """A snippet and what its raters said, as labels."""

    text: str
    votes: tuple[str, ...]

    @property
    def majority(self) -> str | None:
        """What more than half of the raters said."""
        label, count = Counter(self.votes).most_common(1)[0]
        return label if 2 * count > len(self.votes) else None


@dataclass(frozen=True, slots=True)
class Turn:
    """One round: what was harvested and judged, what was released, and how models stand on it."""

    title: str
    corpus: int
    target: str
    collected: int
    vmer: float
    release: Release
    parity: RoundParity


def read_snippets(folder: Path, name: str) -> list[Snippet]:
    """Read a corpus with its individual ratings; of snippets with the same text, the first."""
    ratings = {row[0]: ast.literal_eval(row[3]) for row in _rows(folder / f"{name}_anonDataRatings.txt")}
    plain = folder / f"{name}_GroundTruth.txt"
    truth = plain if plain.exists() else folder / f"{name}_GroundTruth.txt.gz"
    found: dict[str, Snippet] = {}
    for key, _, text in _rows(truth):
        if len(ratings.get(key, ())) >= RATERS and text.strip():
            found.setdefault(_key(text), Snippet(text.strip(), tuple(map(label_of, ratings[key]))))
    return list(found.values())


def label_of(rating: float) -> str:
    """Give the label that a rating from -4 to 4 stands for."""
    return "positive" if rating > 0 else "negative" if rating < 0 else "neutral"


def _rows(path: Path) -> Iterator[list[str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
        yield from csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


@dataclass(slots=True)
class VaderWheel:
    """A workspace in which the wheel turns."""

    workspace: Workspace
    db: Session
    folder: Path
    items: int
    seed: int

    def first_model(self, snippets: Sequence[Snippet]) -> str:
        """Train Model 0 on snippets whose raters agree."""
        add_starter_tasks(self.db, self.workspace.blobs, TASK)
        file = self.folder / "films.jsonl"
        _write(file, ({"text": one.text, "answer": one.majority} for one in snippets if one.majority))
        plan = ImportPlan(role="train", duplicates="first", description="VADER film snippets, by majority.")
        import_dataset(self.db, self.workspace.blobs, OPERATOR, TASK, "vader-films", file, plan)
        return self.model(0, [])

    def model(self, number: int, turns: Sequence[Release]) -> str:
        """Train a model on the starter data, the film snippets, and what was released so far."""
        data = [f"{TASK}/train", f"{TASK}/vader-films", *(one.versions["train"] for one in turns)]
        name = f"vader-model-{number}"
        return train(self.db, self.workspace.blobs, OPERATOR, TASK, "ngram", data, name=name, seed=self.seed).ref

    def round(self, name: str, target: str, snippets: Sequence[Snippet]) -> Release:
        """Harvest, have it judged by the snippets' own raters, and release."""
        corpus, sample = self.folder / f"{name}.jsonl", self.folder / f"{name}-sample.jsonl"
        _write(corpus, ({"text": one.text} for one in snippets))
        model = target_from_workspace(self.db, self.workspace.blobs, OPERATOR, target)
        wanted = Harvesting(rules=parse_rules(RULES, file="rules"), size=self.items, seed=self.seed)
        harvest([corpus], model, sample, wanted)
        policy = dump_policy(ValidationPolicy(items="all", page_size=50, rules=()))
        ref = f"{TASK}/{name}"
        open_with_items(self.db, self.workspace.blobs, OPERATOR, ref, policy, seed=self.seed, items=sample)
        self.judge(ref, name, snippets)
        spec = ReleaseSpec(name=name, seed=self.seed, checked=("length",))
        return release(self.db, self.workspace.blobs, OPERATOR, ref, spec)

    def judge(self, ref: str, name: str, snippets: Sequence[Snippet]) -> None:
        """Let the raters in each place say what they said."""
        rng = np.random.default_rng(self.seed)
        people = draw_people(rng, RATERS, name=f"{name}-rater")
        actors = hire(self.db, people)
        place = {one.name: at for at, one in enumerate(people)}
        votes = {_key(one.text): one.votes for one in snippets}

        def say(_: np.random.Generator, person: SimulatedPerson, text: str, labels: Sequence[str]) -> Judged:
            return Judged(votes[_key(text)][place[person.name]], SECONDS)

        judge_all(self.db, rng, ref, [(one, actors[one.name]) for one in people], way=say)


def corpora_of(folder: Path, seed: int) -> dict[str, list[Snippet]]:
    """Divide the snippets by chance: films to learn from, and for each round films and one half of Amazon's."""
    rng = np.random.default_rng(seed)
    amazon, films = (read_snippets(folder, name) for name in (AMAZON, MOVIES))
    for one in (amazon, films):
        rng.shuffle(one)  # type: ignore[arg-type]  # a list is shuffled in place
    ends = [FILMS_TO_LEARN + FILMS_TO_HARVEST * number for number in range(3)]
    return {
        "to learn": films[: ends[0]],
        "vader-1": [*amazon[::2], *films[ends[0] : ends[1]]],
        "vader-2": [*amazon[1::2], *films[ends[1] : ends[2]]],
    }


def turn(folder: Path, workspace: Workspace, *, items: int = ITEMS, seed: int = 1) -> tuple[list[str], list[Turn]]:
    """Turn the wheel twice; give the models and the rounds."""
    corpora = corpora_of(folder, seed)
    with workspace.session() as db, tempfile.TemporaryDirectory() as scratch:
        wheel = VaderWheel(workspace, db, Path(scratch), items, seed)
        models = [wheel.first_model(corpora.pop("to learn"))]
        released: list[Release] = []
        for name, snippets in corpora.items():
            released.append(wheel.round(name, models[-1], snippets))
            models.append(wheel.model(len(models), released))
            let_score(db, OPERATOR, released[-1].versions["test"].partition("@")[0])
        db.commit()
        run_plain(workspace, TASK)
        standings.catch_up(db, workspace.blobs)
        turns = []
        for number, (name, snippets) in enumerate(corpora.items()):
            rates = error_rates(db, OPERATOR, f"{TASK}/{name}")
            parity = standings.solved(db, OPERATOR, f"{TASK}/{name}")
            vmer = rates.vmer.value or 0.0
            turns.append(Turn(name, len(snippets), models[number], rates.collected, vmer, released[number], parity))
    return models, turns


def report(models: Sequence[str], turns: Sequence[Turn], *, items: int, seed: int, seconds: float) -> str:
    """Write what came of it as Markdown."""
    parts = [
        "# The wheel on real ratings: VADER\n",
        _paragraph(ABOUT.format(items=items, seed=seed, seconds=seconds)),
        "## Rounds\n",
        _table(
            ["round", "target", "snippets", "harvested", "vMER", "train", "dev", "test"],
            [
                (one.title, _short(one.target), one.corpus, one.collected, f"{one.vmer:.1%}", *_sizes(one.release))
                for one in turns
            ],
        ),
    ]
    for one in turns:
        parts += [f"## Labels of {one.title}\n", _labels(one.release)]
    parts += [
        "## Board\n",
        _paragraph(SCORED),
        _table(["", *(one.title for one in turns)], [*_scores(models, turns), _people(turns)]),
        "## Solved?\n",
        _table(
            ["round", "model", "model − people", "items", ""],
            [
                (one.title, _short(best.model), _figure(best.difference), best.items, best.state)
                for one in turns
                for best in one.parity.models[:1]
            ],
        ),
    ]
    return "\n".join(parts)


def _sizes(made: Release) -> list[int]:
    rows = {one.split: one.rows for one in made.report.splits}
    return [rows.get(name, 0) for name in ("train", "dev", "test")]


def _labels(made: Release) -> str:
    splits = made.report.splits
    rows: list[Sequence[object]] = [(name, *(one.labels[name] for one in splits)) for name in splits[0].labels]
    rows.append(("no majority", *(one.undecided for one in splits)))
    return _table(["label", *(one.split for one in splits)], rows)


def _scores(models: Sequence[str], turns: Sequence[Turn]) -> list[Sequence[object]]:
    found = {(one.title, row.model): row.score for one in turns for row in one.parity.models}
    return [(_short(model), *(_figure(found[one.title, model]) for one in turns)) for model in models]


def _people(turns: Sequence[Turn]) -> Sequence[object]:
    return ("people", *(_figure(one.parity.human) for one in turns))


def _figure(figure: object) -> str:
    value, low, high = (getattr(figure, name, None) for name in ("value", "low", "high"))
    return "–" if value is None else f"{value:.3f} ({low:.3f} to {high:.3f})"


def _paragraph(text: str) -> str:
    return textwrap.fill(text.strip(), WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _short(model: str) -> str:
    return model.rpartition("/")[2].partition("@")[0]


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Read the arguments, turn the wheel in a workspace of its own, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.process_time()
    with tempfile.TemporaryDirectory(prefix="quintain-vader-") as scratch:
        workspace = create_workspace(Settings(workspace=Path(scratch) / "workspace"))
        try:
            models, turns = turn(given.folder, workspace, items=given.items, seed=given.seed)
        finally:
            workspace.close()
    seconds = time.process_time() - begun
    text = report(models, turns, items=given.items, seed=given.seed, seconds=seconds)
    if given.out is None:
        print(text)
    else:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
