"""Replies that are kept: one file, several processes, and what older versions left."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from quintain.adapters.answer_reader import ReplyReader
from quintain.adapters.chat_prompt import ChatPrompt
from quintain.adapters.chat_request import RequestTemplate, written
from quintain.adapters.reply_store import FILE, FOLDER, ReplyStore
from quintain.core.hashing import canonical_json, content_id
from quintain.services.tasks.definitions import check_task
from quintain.tasks.starter import starter


def test_what_one_keeps_another_finds_at_once(tmp_path: Path) -> None:
    """A reply is there for every process as soon as it came, and after a crash."""
    with (
        closing(ReplyStore(tmp_path)) as first,
        closing(ReplyStore(tmp_path)) as second,
        ThreadPoolExecutor(1) as apart,
    ):
        assert second.get("k") is None
        # A browser test of the same process may have left its loop in this thread, and replies wait for a loop's turn.
        apart.submit(first.put, "k", "positive", {"prompt_tokens": 3}).result()
        assert second.get("k") == ("positive", {"prompt_tokens": 3})
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_replies_of_an_older_version_are_taken_over(tmp_path: Path) -> None:
    """They were paid for: the same question has the same key as before, and broken files are passed over."""
    task = check_task(starter("text-classification", "sentiment"))
    options = {"model": "m", "prompt": "{text} ä?", "system": "Be brief."}
    template = RequestTemplate(options, ReplyReader("exact", "label", task.label_names))
    body = {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "good ä?"}],
        "temperature": 0,
        "max_tokens": 64,
    }
    key = content_id(canonical_json({"url": "http://h/v1", "body": body}))
    messages = written(ChatPrompt(task, options, tmp_path).messages({"text": "good"}))
    assert template.key("http://h/v1", messages) == key
    assert json.loads(template.request(messages).body) == body
    old = tmp_path / FOLDER / key[:2] / f"{key}.json"
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps({"content": "positive", "usage": {}}))
    (old.parent / "half.json").write_text('{"content": "pos')
    with closing(ReplyStore(tmp_path)) as kept:
        assert kept.get(key) == ("positive", {})
        assert kept.get("half") is None
    assert not old.exists()


def test_who_asks_after_the_end_finds_nothing(tmp_path: Path) -> None:
    """A call that is still under way when a run ends meets a closed file, and nothing breaks."""
    kept = ReplyStore(tmp_path)
    kept.put("a", "yes", {})
    kept.close()
    kept.put("b", "no", {})
    assert kept.get("a") is None
