"""Training by recipes: mixes, labels, cards, checkpoints, what is refused, inoculation, and going on after a break."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, TooMany
from quintain.core.people import OPERATOR, Actor
from quintain.core.recipe import RecipeSpec
from quintain.core.spec import plain
from quintain.data.plan import ImportPlan
from quintain.models.card import check_card
from quintain.models.recipes import shipped_recipes
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.submissions.submit import SubmissionRules
from quintain.services.evaluate.training.train_recipe import TrainingPlace, parse_recipe, train_recipe
from quintain.services.evaluate.training.training_report import result_markdown
from quintain.services.models import registry as models
from quintain.services.models.ask import predict
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from tests.refusals import refusal
from tests.tiny_models import tiny_bert

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
[[labels]]
name = "negative"
[[labels]]
name = "neutral"
[[labels]]
name = "positive"
"""
WORDS = {
    "positive": ("lovely", "great", "wonderful", "best", "kind", "joyful"),
    "negative": ("awful", "terrible", "rude", "worst", "cruel", "messy"),
    "neutral": ("plain", "usual", "average", "ordinary", "normal", "common"),
}
THINGS = ("food", "day", "people", "film")
STARS = {"positive": 5, "neutral": 3, "negative": 1}
RULES = SubmissionRules(per_day=5)
Cli = Callable[..., Result]


def rows(tail: str, **beside: Any) -> list[dict[str, Any]]:
    """Make two dozen examples of every label."""
    return [
        {"text": f"{word} {thing} {tail}", "answer": label, "stars": STARS[label], **beside}
        for label, words in WORDS.items()
        for word in words
        for thing in THINGS
    ]


def voted(tail: str) -> list[dict[str, Any]]:
    """Make examples with votes; every third is mixed and has no answer."""
    found = rows(tail)
    for number, row in enumerate(found):
        other = "neutral" if row["answer"] != "neutral" else "positive"
        row["label_distribution"] = {row["answer"]: 4, other: 1} if number % 3 else {"mixed": 3, row["answer"]: 2}
    return found


def keep(db: Session, blobs: Blobs, folder: Path, name: str, role: str, content: list[dict[str, Any]]) -> None:
    """Import a data set with what stands beside its examples."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    kept = tuple(key for key in ("stars", "label_distribution", "pivot") if key in content[0])
    import_dataset(db, blobs, OPERATOR, "mood", name, path, ImportPlan(role=role, keep=kept))


@pytest.fixture
def place(db: Session, blobs: Blobs, tmp_path: Path) -> TrainingPlace:
    """A task with data of every role, and a place to train in."""
    put_task(db, OPERATOR, TASK)
    for name, role in (("train", "train"), ("more", "train"), ("dev", "dev"), ("contrast", "contrast")):
        keep(db, blobs, tmp_path, name, role, rows(name))
    keep(db, blobs, tmp_path, "round", "train", voted("round"))
    return TrainingPlace(tmp_path / "training")


def recipe(text: str = "", mix: str = '[[mix]]\ndata = "mood/train"') -> RecipeSpec:
    """Read a recipe of the task."""
    return parse_recipe(f'task = "mood"\nname = "next"\n{text}\n{mix}\n')


def test_a_recipe_makes_a_version_with_a_card_and_queues_its_cells(
    db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace
) -> None:
    """Three copies of this, votes of that, only some of the stars: rows and examples of each source are on the card."""
    mix = """
[[mix]]
data = "mood/train"
copies = 3
[[mix]]
data = "mood/more"
only = { stars = [1, 5] }
sample = 10
[[mix]]
data = "mood/round@1"
labels = "distributional"
copies = 2
"""
    done: list[float] = []
    result = train_recipe(
        db, blobs, owner, recipe('dev = ["mood/dev"]', mix), folders=place, rules=RULES, progress=done.append
    )
    first, second, third = result.mix
    assert (first.rows, first.examples) == (72, 216)
    assert (second.has, second.rows, second.by_label["neutral"]) == (72, 10, 0)
    # 48 texts with five votes, 24 with three mixed ones that count twice and two others; two copies of each.
    assert third.examples == 2 * (48 * 5 + 24 * 8)
    assert result.examples == sum(one.examples for one in result.mix)
    assert [one.ref for one in result.models] == ["mood/next@1"]
    assert result.cells > 0
    version = models.get_model(db, owner, "mood/next").version
    assert check_card(version.card) == []
    assert "| `mood/train@1` | 72 of 72 | 3 | 1 | majority | 216 |" in version.card
    assert result.models[0].dev[0].macro_f1 > 0.9
    assert f"{result.models[0].dev[0].macro_f1:.4f}" in version.card
    assert version.meta["recipe"]["mix"][1]["only"] == {"stars": [1, 5]}
    assert predict(db, blobs, owner, "mood/next", [{"text": "a lovely film"}])[0].answer == "positive"
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert not list(place.folder.iterdir())
    assert "mood/train@1" in result_markdown(result)


def test_the_same_recipe_is_the_same_version(db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace) -> None:
    """Trained again, it finds what it made; another seed is another version, and each is said."""
    once = train_recipe(db, blobs, owner, recipe(), folders=place, rules=RULES)
    again = train_recipe(db, blobs, owner, recipe("seeds = [0, 1]"), folders=place, rules=RULES)
    assert [one.ref for one in once.models] == ["mood/next@1"]
    assert [(one.seed, one.ref) for one in again.models][1] == (1, again.models[1].ref)
    assert len({one.ref for one in again.models}) == 2


def test_checkpoints_are_versions_of_growing_ability(
    db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace
) -> None:
    """A version after 1, 10 and 50 % of training and the best last; a card says which it is."""
    text = 'dev = ["mood/dev"]\ncheckpoints = [0.01, 0.1, 0.5]'
    result = train_recipe(db, blobs, owner, recipe(text), folders=place, rules=RULES)
    assert [(one.share, one.ref) for one in result.models] == [
        (0.01, "mood/next@1"),
        (0.1, "mood/next@2"),
        (0.5, "mood/next@3"),
        (None, "mood/next@4"),
    ]
    assert "after 1% of training" in models.get_model(db, owner, "mood/next@1").version.card
    assert result.models[-1].best is not None


def test_evaluation_data_is_refused_unless_forced(
    db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace, tmp_path: Path
) -> None:
    """Contrast sets, what is in one, and what one was made of: refused for recipes and baselines, noted if forced."""
    pivot = rows("pivot")[0]
    keep(db, blobs, tmp_path, "pivots", "train", [pivot, *rows("others")])
    from quintain.core.example import Example

    variant = {"text": "not a pivot any more", "answer": "negative", "pivot": Example({"text": pivot["text"]}).id}
    keep(db, blobs, tmp_path, "variants", "contrast", [variant])
    for name in ("contrast", "pivots"):
        wanted = f'[[mix]]\ndata = "mood/{name}"'
        with refusal(Conflict, "evaluation_only"):
            train_recipe(db, blobs, owner, recipe(mix=wanted), folders=place, rules=RULES)
        with refusal(Conflict, "evaluation_only"):
            train(db, blobs, owner, "mood", "tfidf", [f"mood/{name}"])
        forced = train_recipe(db, blobs, owner, recipe("force = true", wanted), folders=place, rules=RULES)
        assert "evaluation only" in models.get_model(db, owner, forced.models[0].ref).version.card
        assert "evaluation only" in train(db, blobs, owner, "mood", "tfidf", [f"mood/{name}"], force=True).card
    with refusal(Conflict, "evaluation_only"):
        train_recipe(db, blobs, owner, recipe('dev = ["mood/contrast"]\npatience = 2'), folders=place, rules=RULES)


@pytest.mark.parametrize(
    ("text", "mix", "error", "said"),
    [
        ("", '[[mix]]\ndata = "mood/none"', NotFound, "mood/none"),
        ("", '[[mix]]\ndata = "mood/train@9"', NotFound, "9"),
        ("", '[[mix]]\ndata = "mood/train"\nonly = { stars = [9] }', BadInput, "Nothing is left of mood/train@1"),
        ("", '[[mix]]\ndata = "mood/train"\nonly = { shape = 1 }', BadInput, "has 'shape'"),
        ("", '[[mix]]\ndata = "mood/train"\nonly = { answer = "positive" }', BadInput, "mix is 'negative'"),
        ("", '[[mix]]\ndata = "mood/train"\nlabels = "soft"', BadInput, "no votes"),
        ("", '[[mix]]\nfile = "train.jsonl"', Forbidden, "no files"),
        ('continue = "mood/none"', '[[mix]]\ndata = "mood/train"', NotFound, "mood/none"),
        pytest.param(
            'learner = "transformers"\noptions = {checkpoint = "../x"}',
            '[[mix]]\ndata = "mood/train"',
            BadInput,
            "check",
            marks=pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
        ),
    ],
)
def test_bad_recipes_are_refused_and_leave_nothing(
    db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace, text: str, mix: str, error: Any, said: str
) -> None:
    """What is not there, leaves nothing or misses a class is named; no model and no folder comes of it."""
    with pytest.raises(error, match=said):
        train_recipe(db, blobs, owner, recipe(text, mix), folders=place, rules=RULES)
    assert models.list_models(db, OPERATOR) == []
    assert not place.folder.exists()


def test_faults_of_a_recipe_are_named_together() -> None:
    """An unknown learner, an option that it does not have, and options that clash: each at its place."""
    with pytest.raises(BadInput) as caught:
        recipe('learner = "lineal"\npatience = 3')
    assert {fault.field for fault in caught.value.faults} == {"learner", "dev"}
    with pytest.raises(BadInput, match="did you mean 'epochs'"):
        recipe("[options]\nepoch = 3")
    with pytest.raises(BadInput, match="inoculation goes on from a model"):
        recipe(mix='[[mix]]\ndata = "mood/train"\n[inoculation]\noriginal = ["mood/dev"]')


def test_who_may_train_and_how_much(
    db: Session, blobs: Blobs, builder: Actor, worker: Actor, place: TrainingPlace
) -> None:
    """Workers may not; a builder's trained models count as submitted ones, and votes are for owners."""
    with pytest.raises(Forbidden):
        train_recipe(db, blobs, worker, recipe(), folders=place, rules=RULES)
    with pytest.raises(TooMany, match="makes 6 models"):
        train_recipe(db, blobs, builder, recipe("seeds = [1, 2, 3, 4, 5, 6]"), folders=place, rules=RULES)
    mix = '[[mix]]\ndata = "mood/round"\nlabels = "distributional"'
    with pytest.raises(BadInput, match="no votes"):
        train_recipe(db, blobs, builder, recipe(mix=mix), folders=place, rules=RULES)
    assert train_recipe(db, blobs, builder, recipe(), folders=place, rules=RULES).models


def test_inoculation_gives_curves_and_no_model(db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace) -> None:
    """F1 by size, data set and class, from the model as it was; the original dev sets are marked."""
    train_recipe(db, blobs, owner, recipe('[options]\nfeatures = "tfidf"'), folders=place, rules=RULES)
    text = 'continue = "mood/next@1"\ndev = ["mood/contrast"]\noptions = { features = "tfidf" }'
    mix = '[[mix]]\ndata = "mood/more"\n[inoculation]\noriginal = ["mood/dev"]\nsizes = [5, 50, 500]'
    result = train_recipe(db, blobs, owner, recipe(text, mix), folders=place, rules=RULES)
    found = result.inoculation
    assert found is not None
    assert result.models == ()
    assert [(one.size, one.dataset, one.original) for one in found.points] == [
        (size, f"mood/{name}@1", name == "dev") for size in (0, 5, 50, 72) for name in ("dev", "contrast")
    ]
    assert set(found.points[0].f1) == set(WORDS)
    assert "| 72 | `mood/dev@1` (original) |" in result_markdown(result)
    assert len(models.list_models(db, OPERATOR)[0].versions) == 1


def test_a_fine_tuned_model_can_be_run_and_gone_on_from(
    db: Session, blobs: Blobs, owner: Actor, place: TrainingPlace, tmp_path: Path
) -> None:
    """Its folder has manifest and card; a break leaves its state behind, and the same recipe goes on with it."""
    words = [word for some in WORDS.values() for word in some] + [*THINGS, "train", "dev"]
    tiny_bert(tmp_path / "checkpoints" / "tiny", words)
    there = TrainingPlace(place.folder, tmp_path / "checkpoints")
    text = 'learner = "transformers"\noptions = { checkpoint = "tiny", epochs = 1, rate = 0.001, batch = 16 }'

    def broken(done: float) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_recipe(db, blobs, owner, recipe(text), folders=there, rules=RULES, progress=broken)
    assert list(there.folder.glob("*/state.pt"))
    steps: list[float] = []
    made = train_recipe(db, blobs, owner, recipe(text), folders=there, rules=RULES, progress=steps.append)
    assert steps[0] > 0.5
    version = models.get_model(db, owner, made.models[0].ref).version
    assert version.adapter == "transformers"
    assert "checkpoint" not in version.card.split("Options:")[1].split("\n")[0]
    going = recipe(text.replace('checkpoint = "tiny", ', "") + '\ncontinue = "mood/next@1"')
    again = train_recipe(db, blobs, owner, going, folders=there, rules=RULES)
    assert "went on from `mood/next@1`" in models.get_model(db, owner, again.models[0].ref).version.card


def test_shipped_recipes_can_be_read_and_say_what_they_are() -> None:
    """Model 0 and 1 have the paper's settings and mix; respondents their own."""
    found = {one.name: (one, parse_recipe(one.text, file=one.name)) for one in shipped_recipes()}
    assert {"model-0", "model-1", "irt-respondents", "linear", "inoculation"} <= set(found)
    assert all(one.about for one, _ in found.values())
    paper = {"length": 128, "rate": 2e-5, "batch": 8, "epochs": 3, "dropout": 0.1}
    for name in ("model-0", "model-1"):
        assert {key: found[name][1].options[key] for key in paper} == paper
    mix = {one.data.partition("/")[2]: one for one in found["model-1"][1].mix}
    assert mix["sst3-train"].copies == 3
    assert (mix["round-1-train"].copies, mix["round-1-train"].labels) == (2, "distributional")
    assert (mix["yelp-train"].sample, mix["amazon-train"].sample) == (90_000, 400_000)
    respondents = found["irt-respondents"][1]
    assert (respondents.options["rate"], respondents.options["epochs"]) == (1e-5, 4)
    assert respondents.checkpoints == (0.01, 0.1, 0.25, 0.5)
    assert parse_recipe(found["linear"][0].text) == parse_recipe(found["linear"][0].text)
    assert plain(respondents)["checkpoints"] == [0.01, 0.1, 0.25, 0.5]


def test_recipes_at_the_command_line(cli: Cli, tmp_path: Path) -> None:
    """List, write, mend and train on plain files; a report comes as Markdown; what is missing is said with a remedy."""
    assert "model-1" in cli("model", "recipes").stdout
    assert "checkpoints" not in cli("model", "learners").stdout.split("linear:")[0]
    path = tmp_path / "linear.toml"
    missing = cli("train", str(path))
    assert missing.exit_code != 0
    assert "model recipes linear --write" in missing.stderr
    assert cli("model", "recipes", "linear", "--write", str(path)).exit_code == 0
    (tmp_path / "task.toml").write_text(TASK)
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(name)))
    path.write_text(
        'task = "task.toml"\nname = "linear"\ndev = ["dev.jsonl"]\n[[mix]]\nfile = "train.jsonl"\ncopies = 2\n'
    )
    out = tmp_path / "out"
    made = cli("train", str(path), "--out", str(out), "--report", str(tmp_path / "report.md"), "--json")
    assert made.exit_code == 0, made.stderr
    result = json.loads(made.stdout)
    assert result["mix"][0]["examples"] == 144
    assert (out / "seed-0" / "model.json").exists()
    assert (out / "seed-0" / "CARD.md").exists()
    assert "# Training linear" in (tmp_path / "report.md").read_text()
    assert cli("train", str(path), "--data", "x").exit_code != 0
