"""Texts as vectors: the mean of a local encoder's last states, scaled to length one. Inside the sandbox, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
BATCH = 64
HEAD = "head.npz"


class Encoder:
    """A folder of `transformers` whose states are averaged; it runs on a GPU where *device* says so."""

    def __init__(self, folder: Path, *, length: int, device: str = "cpu") -> None:
        import torch
        import transformers

        self._torch, self._device = torch, device
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model: Any = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval().to(device)
        self.length = min(length, int(self.tokenizer.model_max_length))

    def vectors(self, columns: Sequence[Sequence[str]]) -> Vectors:
        """Return a vector for each example, whose texts stand in one column, or in two that are compared."""
        parts = [self._encode(list(column)) for column in columns[:2]]
        if len(parts) == 1:
            return parts[0]
        first, second = parts
        return np.concatenate([first, second, np.abs(first - second), first * second], axis=1)

    def _encode(self, texts: list[str]) -> Vectors:
        torch, pieces = self._torch, []
        for at in range(0, len(texts), BATCH):
            encoded = self.tokenizer(
                texts[at : at + BATCH], truncation=True, max_length=self.length, padding=True, return_tensors="pt"
            ).to(self._device)
            with torch.inference_mode():
                states = self.model(**encoded).last_hidden_state.float()
            mask = encoded["attention_mask"].unsqueeze(-1).float()
            means = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
            pieces.append(torch.nn.functional.normalize(means, dim=-1).cpu().numpy())
        return np.concatenate(pieces) if pieces else np.zeros((0, 0), dtype=np.float32)


def head_probabilities(vectors: Vectors, weights: npt.NDArray[Any], intercepts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the probability of each class."""
    scores = vectors @ weights + intercepts
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
