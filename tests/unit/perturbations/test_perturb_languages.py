"""Which perturbations apply to a task is said by its languages, and a figure on few kinds ranks nobody."""

from __future__ import annotations

import pytest

from quintain.perturbations.contract import PERTURBATIONS
from quintain.services.evaluate.results.axis_gaps import counted_variants
from quintain.services.evaluate.results.variants import LEAST_KINDS, applies, counts_for, variant_name, variants_of
from tests.languages import opinion_task


def test_english_tasks_have_all_kinds() -> None:
    """Nothing changes for English: every kind is run, and both families rank."""
    task = opinion_task("en")
    assert variants_of(task)[2:] == [variant_name(name) for name in PERTURBATIONS.names()]
    assert set(counted_variants(task)) == {"robustness", "fairness"}


@pytest.mark.parametrize("language", ["zh", "ar", "hi", "de", "pt-BR"])
def test_english_words_are_put_into_english_only(language: str) -> None:
    """No filler, contraction, name or gendered word of English is put into texts of another language."""
    task = opinion_task(language)
    for name in ("filler_words", "contraction", "gender_names", "ethnicity_names", "identity_terms", "spelling_error"):
        assert not applies(task, name)
        assert not counts_for(task, name)
        assert variant_name(name) not in variants_of(task)
    assert "fairness" not in counted_variants(task)


@pytest.mark.parametrize(("language", "ranked"), [("zh", False), ("ar", False), ("hi", False), ("de", True)])
def test_robustness_on_few_kinds_ranks_nobody(language: str, ranked: bool) -> None:
    """German has slips of keys, of scanners, of case and of marks; in Chinese only marks would be left."""
    counted = counted_variants(opinion_task(language))
    assert ("robustness" in counted) is ranked
    assert all(len(names) >= LEAST_KINDS for names in counted.values())


def test_a_task_of_several_languages_has_the_kinds_of_each() -> None:
    """What applies to one of its languages is made; another script needs to be one of the task's."""
    task = opinion_task("zh")
    assert not applies(task, "keyboard")
    both = type(task)(task.name, task.kind, task.title, labels=task.labels, languages=("zh", "en"))
    assert applies(both, "keyboard")
    assert applies(both, "filler_words")
