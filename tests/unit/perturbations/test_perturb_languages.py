"""Which perturbations apply to a task is said by its languages, and a figure on few kinds ranks nobody."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from quintain.core.errors import BadInput
from quintain.data.perturbing_languages import applies_in, counts_in
from quintain.library.perturbed import perturb
from quintain.perturbations.apply import perturb_texts
from quintain.perturbations.contract import PERTURBATIONS, perturbation
from quintain.perturbations.wordbooks import wordbooks
from quintain.services.evaluate.results.axis_gaps import counted_variants
from quintain.services.evaluate.results.variants import (
    LEAST_KINDS,
    applies,
    counts_for,
    perturbed,
    variant_name,
    variants_of,
)
from quintain.stats.workers import wilson_share
from tests.languages import opinion_task

ROOT = Path(__file__).parents[3]
MOST = 0.02  # the rate up to which a kind may enter a figure
LEAST_READ = 20  # outputs of a kind that were read before a figure may rest on it


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that draws the samples and prints the table."""
    spec = importlib.util.spec_from_file_location("perturb_languages", ROOT / "benchmarks" / "perturb_languages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def marks(script: ModuleType) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """What was marked, by language and kind."""
    read: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads(script.MARKS.read_text("utf-8"))
    return read


def test_english_tasks_have_all_kinds() -> None:
    """Nothing changes for English: every kind is run, and both families rank."""
    task = opinion_task("en")
    assert variants_of(task)[2:] == [variant_name(name) for name in PERTURBATIONS.names()]
    assert set(counted_variants(task)) == {"robustness", "fairness"}


@pytest.mark.parametrize("language", ["tr", "ru", "ja", "pt-BR"])
def test_english_words_are_put_into_english_only(language: str) -> None:
    """No filler, contraction, name or gendered word of English is put into texts of a language without lists."""
    task = opinion_task(language)
    for name in ("filler_words", "contraction", "gender_names", "ethnicity_names", "identity_terms", "spelling_error"):
        assert not applies(task, name)
        assert not counts_for(task, name)
        assert variant_name(name) not in variants_of(task)
    assert "fairness" not in counted_variants(task)


@pytest.mark.parametrize(
    ("language", "kinds"), [("zh", 5), ("ar", 3), ("hi", 4), ("de", 6), ("fr", 6), ("es", 5), ("ja", 0)]
)
def test_robustness_ranks_where_enough_kinds_were_read(language: str, kinds: int) -> None:
    """Each language ranks on the kinds of which enough was read; in Japanese, without lists, only marks are left."""
    counted = counted_variants(opinion_task(language))
    assert len(counted.get("robustness", ())) == kinds
    assert all(len(names) >= LEAST_KINDS for names in counted.values())


def test_a_task_of_several_languages_has_the_kinds_of_each() -> None:
    """What applies to one of its languages is made of the examples that are in it, and of no others."""
    task = opinion_task("zh")
    assert not applies(task, "word_case")
    both = type(task)(task.name, task.kind, task.title, labels=task.labels, languages=("zh", "en"))
    assert applies(both, "word_case")
    rows = pl.DataFrame({"id": ["1"], "text": ["A good film."], "answer": ["good"], "meta": ["{}"]})
    assert perturbed(both, rows, "word_case", seed=0, language="en").height == 1
    assert perturbed(both, rows, "word_case", seed=0, language="zh").height == 0


@pytest.mark.parametrize(
    ("language", "kind", "before", "after"),
    [
        ("de", "gender_words", "Bei meinem Onkel läuft sie.", None),  # "sie" may be a person
        ("de", "gender_words", "Mit meinem Kollegen lache ich.", "Mit meiner Kollegin lache ich."),
        ("de", "gender_words", "Der Kellner, der uns half, war nett.", None),
        ("de", "contraction", "Gibt es hier Tee?", "Gibt's hier Tee?"),
        ("de", "number_form", "Es dauert drei Stunden.", "Es dauert 3 Stunden."),
        ("fr", "gender_words", "J'y vais avec mon frère demain.", None),  # what follows may agree
        ("fr", "gender_words", "J'y vais avec mon frère.", "J'y vais avec ma sœur."),
        ("fr", "contraction", "Il y a du bruit.", "Y a du bruit."),
        ("es", "gender_words", "Fui con mi hermana y volví.", "Fui con mi hermano y volví."),
        ("es", "number_form", "Tardó 3 semanas.", "Tardó tres semanas."),
        ("ar", "gender_words", "ذهبت مع أخي أمس.", "ذهبت مع أختي أمس."),
        ("ar", "gender_words", "ذهبت مع أخي الكبير.", None),
        ("ar", "number_form", "بعد ثلاثة أيام.", "بعد 3 أيام."),
        ("hi", "gender_words", "मेरे पिता ने चाय पी।", "मेरी माँ ने चाय पी।"),
        ("hi", "gender_words", "मेरे पिता अच्छे हैं।", None),  # the adjective would have to follow
        ("hi", "number_form", "तीन दिन बाद।", "3 दिन बाद।"),
        ("zh", "gender_words", "我和哥哥去了。", "我和姐姐去了。"),
        ("zh", "gender_words", "其他人弹吉他。", None),
        ("zh", "number_form", "等了三个小时。", "等了3个小时。"),
    ],
)
def test_words_follow_the_language(language: str, kind: str, before: str, after: str | None) -> None:
    """A word changes with all that agrees with it, or not at all."""
    assert perturb_texts([before], perturbation(kind), language=language) == [after]


def test_marks_and_keys_are_those_of_the_script() -> None:
    """Arabic gets no Latin comma or semicolon, German slips are those of QWERTZ, and Chinese has no spaces put in."""
    arabic = [
        perturb_texts(["هذا الفيلم رائع جدا"], perturbation("punctuation"), seed=i, language="ar")[0] for i in range(40)
    ]
    assert not any(sign in (text or "") for text in arabic for sign in ",;?")
    assert any("؛" in (text or "") for text in arabic)
    slips = {perturb_texts(["zzzzzz"], perturbation("keyboard"), seed=i, language="de")[0] for i in range(40)}
    assert set("".join(slip or "" for slip in slips)) == set("ztugh")
    chinese = perturb_texts(["服务非常热情。"], perturbation("keyboard"), language="zh")[0]
    assert chinese is not None
    assert len(chinese) == 7


def test_every_list_names_its_source() -> None:
    """A reader finds where each list is from, at the list."""
    for code, tables in wordbooks().items():
        for name, table in tables.items():
            assert table["source"], (code, name)


def test_what_was_read_is_what_is_made(
    script: ModuleType, marks: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> None:
    """Lists that are changed are read again: the outputs that were marked are those of today."""
    for language, kinds in marks.items():
        for kind, mark in kinds.items():
            outputs = list(script.drawn(language, kind, mark["seeds"]))
            assert (len(outputs), script.digest(outputs)) == (mark["outputs"], mark["digest"]), (language, kind)


def test_only_what_was_read_enough_and_hardly_errs_counts(marks: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """In each language with lists a kind counts where twenty outputs were read and at most 2 % say something else."""
    assert marks.keys() == wordbooks().keys()
    for language, kinds in marks.items():
        for name, member in PERTURBATIONS.items():
            if not (member.in_paper and applies_in(language, name)):
                continue
            mark = kinds[name]
            good = wilson_share(len(mark["faults"]), mark["outputs"]).value <= MOST
            assert counts_in(language, name) is (good and mark["outputs"] >= LEAST_READ), (language, name)


def test_the_documentation_has_the_rates(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """The table of docs/perturbations.md is what the script counts; if not, run it and paste what it prints."""
    script.table()
    assert capsys.readouterr().out in (ROOT / "docs" / "perturbations.md").read_text("utf-8")


def test_a_file_is_perturbed_in_its_language() -> None:
    """`--language` takes the lists of that language; a kind that is for others is refused with those that it is for."""
    assert perturb(["Geht es noch teurer?"], "contraction", language="de").table["text"].to_list() == [
        "Geht's noch teurer?"
    ]
    with pytest.raises(BadInput, match=r"contraction is not for texts in 'zh'.*It is for de, en, fr"):
        perturb(["好"], "contraction", language="zh")
    assert perturb(["花了三个小时。"], "robustness", language="zh").table.height > 0
