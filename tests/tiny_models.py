"""Tiny random models of transformers, made on the spot; a test that asks for one is skipped where torch is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

WORDS = "the was food service soup good great lovely bad awful cold so plain on monday".split()  # noqa: SIM905


def tiny_bert(folder: Path, words: list[str] | None = None, *, hidden: int = 16) -> Path:
    """Write a random BERT of two layers with a WordPiece vocabulary of *words*, as a checkpoint to begin with."""
    pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words or WORDS)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    shape = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * hidden,
        max_position_embeddings=64,
    )
    transformers.set_seed(7)
    transformers.BertModel(shape).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder
