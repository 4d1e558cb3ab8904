"""Task files: what is read, and everything that is said about a bad one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput, NotFound
from quintain.core.task import Label, Task
from quintain.tasks.contract import KINDS, kind_of
from quintain.tasks.definition import dump_task, parse_task, read_task
from quintain.tasks.starter import starter
from tests.properties import examples

GOOD = """
name = "sentiment"
kind = "text-classification"
title = "Sentiment"
languages = ["en", "de"]
labels = ["negative", "neutral", "positive"]
metrics = ["macro_f1", "accuracy"]
canonical_metric = "accuracy"
content_warning = "Some reviews are rude."

[[extra_labels]]
name = "mixed"
gloss = "Both at once"
examples = ["Good food, bad service."]

[instructions]
en = "How does the **writer** feel?"
de = "Wie fühlt sich die Person?"
"""


def faults_of(text: str, **known: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        parse_task(text, file="t.toml", **known)
    return [str(fault) for fault in caught.value.faults]


def test_good_file_is_read() -> None:
    """Every part of a file arrives in the task; a plain text counts for the first language."""
    task = parse_task(GOOD)
    assert task.label_names == ("negative", "neutral", "positive")
    assert task.extra_labels == (Label("mixed", "Both at once", ("Good food, bad service.",)),)
    assert task.title == {"en": "Sentiment"}
    assert task.content_warning == {"en": "Some reviews are rude."}
    assert task.instructions["de"].startswith("Wie")
    assert task.canonical_metric == "accuracy"


def test_defaults_are_filled_in() -> None:
    """A name and a kind are enough where the kind has no labels: title, language and metrics have defaults."""
    task = parse_task('name = "my-qa"\nkind = "extractive-qa"')
    assert task.title == {"en": "My qa"}
    assert task.metrics == ("token_f1", "exact_match")
    assert task.canonical_metric == "token_f1"
    assert parse_task('name = "q"\nkind = "yes-no"').label_names == ("yes", "no")


def test_broken_toml_names_line_and_column() -> None:
    """A syntax error is shown with its line, its column and what stands there."""
    (fault,) = faults_of('name = "x"\nkind = text-classification\n')
    assert fault.startswith("t.toml, line 2: not valid TOML:")
    assert "column" in fault
    assert "kind = text-classification" in fault


def test_unclosed_string_at_the_end() -> None:
    """A file that ends too early is told so on its last line."""
    (fault,) = faults_of('name = "x"\ninstructions = """never closed')
    assert fault.startswith("t.toml, line 2: not valid TOML")


def test_all_faults_are_told_at_once() -> None:
    """One reading finds every fault, each with its line and key."""
    faults = faults_of(
        'nam = "x"\nkind = "text-clasification"\nlabels = ["a", "a"]\nlanguages = ["English!"]\n'
        'metrics = ["accuracy"]\ncanonical_metric = "f1"\n[options]\n'
    )
    assert "t.toml, line 1, field 'nam': no such key; did you mean 'name'?" in faults
    assert any(fault.startswith("t.toml, field 'name': is missing") for fault in faults)
    assert any("line 2, field 'kind'" in fault and "did you mean 'text-classification'" in fault for fault in faults)
    assert "t.toml, line 3, field 'labels': 'a' is given twice" in faults
    assert any("line 4, field 'languages': 'English!'" in fault for fault in faults)
    assert any("line 6, field 'canonical_metric': 'f1' is not among" in fault for fault in faults)


@pytest.mark.parametrize(
    ("line", "key", "reason"),
    [
        ('labels = ["only"]', "labels", "at least two"),
        ("labels = 3", "labels", "is not a list"),
        ("labels = [1, 2]", "labels", "entry 1 is 1"),
        ('labels = [" a", "b"]', "labels", "without spaces around"),
        ('labels = [{name = "a", glos = "x"}, "b"]', "labels", "unknown key 'glos'"),
        ('labels = [{name = "a", gloss = 3}, "b"]', "labels", "gloss is a text"),
        ('labels = [{name = "a", gloss = {de = ""}}, "b"]', "labels", "gloss is a text"),
        (f'labels = ["{"a" * 81}", "b"]', "labels", "more than 80"),
        ('labels = ["a", "b"]\nextra_labels = ["b"]', "extra_labels", "also in labels"),
        (
            'labels = ["a", "b"]\nextra_labels = [{name = "m", mixes = ["c"]}]',
            "extra_labels",
            "mixes 'c', which is not",
        ),
        ('labels = ["a", "b"]\nextra_labels = [{name = "m", mixes = 3}]', "extra_labels", "is not a list of labels"),
        ('labels = [{name = "a", mixes = ["b"]}, "b"]', "labels", "unknown key 'mixes'"),
        ('labels = ["a", "b"]\nlanguages = []', "languages", "is not a list of language codes"),
        ('labels = ["a", "b"]\nlanguages = ["en", "en"]', "languages", "twice"),
        ('labels = ["a", "b"]\nmetrics = []', "metrics", "is not a list"),
        ('labels = ["a", "b"]\nmetrics = ["x", "x"]', "metrics", "twice"),
        ('labels = ["a", "b"]\ntitle = 4', "title", "neither a text nor a table"),
        ('labels = ["a", "b"]\ntitle = {deutsch = "x"}', "title", "'deutsch' is not a language code"),
        ('labels = ["a", "b"]\ninstructions = " "', "instructions", "is empty"),
        ('labels = ["a", "b"]\noptions = 1', "options", "is not a table"),
        ('labels = ["a", "b"]\n[options]\nfirst = "x"', "options", "option 'first' is not known"),
    ],
)
def test_each_fault_has_its_reason(line: str, key: str, reason: str) -> None:
    """Each thing that can be wrong with a key is said of that key."""
    faults = faults_of(f'name = "x"\nkind = "text-classification"\n{line}\n')
    assert any(f"field '{key}': " in fault and reason in fault for fault in faults)


@pytest.mark.parametrize("name", ["Has Space", "Grün", "", "-x", "x" * 81, "../x"])
def test_bad_names_are_refused(name: str) -> None:
    """A name must be usable in an address and as a file's name."""
    assert any("is not a name" in fault for fault in faults_of(f'name = "{name}"\nkind = "free-text"'))


def test_labels_where_the_kind_has_none_or_its_own() -> None:
    """Labels are refused where they would mean nothing, and cannot be renamed where the kind fixes them."""
    assert "has no labels" in faults_of('name = "x"\nkind = "free-text"\nlabels = ["a", "b"]')[0]
    assert "yes, no" in faults_of('name = "x"\nkind = "yes-no"\nlabels = ["ja", "nein"]')[0]
    told = '[[labels]]\nname = "yes"\ngloss = {de = "Bejaht", en = "It agrees"}\n[[labels]]\nname = "no"'
    yes, no = parse_task(f'name = "x"\nkind = "yes-no"\nlanguages = ["en", "de"]\n{told}').labels
    assert (yes.gloss, yes.gloss_in("de"), yes.gloss_in("fr")) == ("It agrees", "Bejaht", "It agrees")
    assert no.gloss_in("de") == ""
    glossed = '[[labels]]\nname = "yes"\ngloss = "Ja"\n[[labels]]\nname = "no"'
    assert parse_task(f'name = "x"\nkind = "yes-no"\n{glossed}').labels[0].gloss == "Ja"


def test_metrics_are_checked_where_they_are_known() -> None:
    """A metric that does not exist, or is for other answers, is refused with the ones that fit."""
    text = 'name = "x"\nkind = "free-text"\nmetrics = ["acuracy", "accuracy"]\n'
    faults = faults_of(text, metrics={"accuracy": ("label",), "bleu": ("text",)})
    assert "there is no metric 'acuracy'; did you mean 'accuracy'?" in faults[0]
    assert "'accuracy' is not for kind 'free-text', which has bleu" in faults[1]
    assert parse_task(text).metrics == ("acuracy", "accuracy")


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("pair-classification", 'first = "answer"', "'first' is 'answer'"),
        ("pair-classification", 'first = "Claim!"', "'first' is 'Claim!'"),
        ("pair-classification", 'first = "hypothesis"', "name the same field"),
        ("pair-classification", 'marked = "yes"', "'marked' is neither"),
        ("pair-classification", 'marked = true\nfirst = "x"', "there is one field"),
        ("extractive-qa", "f1_threshold = 0", "above 0"),
        ("extractive-qa", "unanswerable = 1", "'unanswerable' is neither"),
        ("free-text", 'fooled_by = "meteor"', "it is one of worker, bleu, chrf, rouge_l"),
        ("free-text", "threshold = 30", "at most 1"),
    ],
)
def test_bad_options_are_refused(kind: str, options: str, reason: str) -> None:
    """Options are checked by the kind that has them."""
    labels = 'labels = ["a", "b"]\n' if KINDS.get(kind).needs_labels else ""
    assert any(reason in fault for fault in faults_of(f'name = "x"\nkind = "{kind}"\n{labels}[options]\n{options}'))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, a wrong encoding and a huge file are each explained."""
    with pytest.raises(NotFound, match="no file"):
        read_task(tmp_path / "none.toml")
    with pytest.raises(BadInput, match="cannot be read"):
        read_task(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes('name = "x"\ntitle = "Gefühl"\n'.encode("latin-1"))
    with pytest.raises(BadInput, match=r"latin\.toml, line 2: byte 0xfc is not UTF-8"):
        read_task(latin)
    huge = tmp_path / "huge.toml"
    huge.write_text("#" * 1_000_001)
    with pytest.raises(BadInput, match="larger than 1 MB"):
        read_task(huge)


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    """Editors on Windows put a mark in front of the file; that is no fault."""
    file = tmp_path / "t.toml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert read_task(file) == parse_task(GOOD)


@pytest.mark.parametrize("kind", KINDS.names())
def test_starter_is_a_good_file(kind: str) -> None:
    """A new task file of any kind is good as it stands, and so are the options it shows."""
    text = starter(kind, "first-try")
    task = parse_task(text)
    assert (task.name, task.kind) == ("first-try", kind)
    options = text.partition("# [options]")
    if options[1]:
        shown = (options[1] + options[2].partition("\n\n")[0]).replace("# ", "", 1).replace("\n# ", "\n")
        assert set(parse_task(options[0] + shown).options) == set(kind_of(task).default_options)


WORDS = st.text(alphabet="ab \"\\\n\t'#{}é𝄞", min_size=1, max_size=12).filter(lambda text: text.strip() != "")
LABELS = st.lists(
    st.builds(Label, WORDS.map(str.strip), WORDS | st.just(""), st.lists(WORDS, max_size=2).map(tuple)),
    min_size=2,
    max_size=4,
    unique_by=lambda label: label.name,
).map(tuple)
BY_LANGUAGE = st.dictionaries(st.sampled_from(["en", "de", "pt-BR"]), WORDS, min_size=1)


@settings(max_examples=examples(60), deadline=None)
@given(labels=LABELS, title=BY_LANGUAGE, instructions=BY_LANGUAGE, warning=BY_LANGUAGE)
def test_written_file_reads_back(
    labels: tuple[Label, ...], title: dict[str, str], instructions: dict[str, str], warning: dict[str, str]
) -> None:
    """Whatever stands in a task, its file reads back as the same task."""
    task = Task(
        name="round-trip",
        kind="pair-classification",
        title=title,
        labels=labels,
        instructions=instructions,
        content_warning=warning,
        metrics=("accuracy",),
        canonical_metric="accuracy",
        options={"first": "claim", "second": "perspective"},
    )
    assert parse_task(dump_task(task)) == task


@settings(max_examples=examples(100), deadline=None)
@given(text=st.text(max_size=80))
def test_any_text_is_a_task_or_bad_input(text: str) -> None:
    """No text makes the reader fail in another way than by saying what is wrong."""
    with pytest.raises(BadInput) as caught:
        parse_task(text)
    assert caught.value.faults


def test_labels_that_look_alike_are_refused() -> None:
    """The same letters in two scripts are two labels to a program and one to whoever judges; the letters are named."""
    text = 'name = "x"\nkind = "text-classification"\ntitle = "X"\nlabels = ["ja", "j\u0430"]\n'
    with pytest.raises(BadInput) as refused:
        parse_task(text)
    reasons = [str(fault.reason) for fault in refused.value.faults]
    assert any("CYRILLIC SMALL LETTER A" in reason and "LATIN SMALL LETTER A" in reason for reason in reasons), reasons
