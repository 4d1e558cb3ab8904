"""A folder with a checkpoint of Hugging Face `transformers`, looked at before anything is loaded from it."""

from __future__ import annotations

from pathlib import Path

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.jsontext import parse_json
from quintain.core.texts import Text

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


def checkpoints_in(folder: Path | None) -> list[str]:
    """Return the names of the checkpoints in *folder*; none where there is no folder."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder and folder.is_dir() else []


def named_checkpoint(folder: Path | None, name: str, field: str = "options.checkpoint") -> Path:
    """Return the checkpoint called *name* among those that the operator keeps in *folder*; refuse any other path."""
    known = checkpoints_in(folder)
    if folder is None or name not in known:
        fault = Fault(
            "'{name}' is not one of the checkpoints here: {there}" if known else "there are no checkpoints here",
            name=name,
            there=", ".join(known),
            field=field,
        )
        raise BadInput(faults=[fault], remedy="The operator puts checkpoints into QUINTAIN_CHECKPOINTS.")
    return folder / name


def look_at_checkpoint(folder: Path, field: str = "options.checkpoint") -> None:
    """Refuse a folder that is not there, or that lacks config, weights or tokenizer, and name all that is missing."""
    if not folder.is_dir():
        raise NotFound(
            "There is no checkpoint folder {folder}.",
            folder=folder,
            remedy="Put a checkpoint there, as `save_pretrained` writes it: nothing is downloaded.",
        )
    faults = [Fault(reason, file=f"{folder.name}/{name}", field=field) for name, reason in _missing(folder)]
    if faults:
        raise BadInput(faults=faults, remedy="Save model and tokenizer there with `save_pretrained`.")


def _missing(folder: Path) -> list[tuple[str, Text]]:
    problems = []
    if not any(path for pattern in WEIGHTS for path in folder.glob(pattern)):
        problems.append(("model.safetensors", Text("is missing; it holds the weights")))
    if not any((folder / name).is_file() for name in TOKENIZERS):
        problems.append(("tokenizer.json", Text("is missing; the model cannot read texts without a tokenizer")))
    try:
        config = parse_json((folder / "config.json").read_bytes())
    except FileNotFoundError:
        return [*problems, ("config.json", Text("is missing; it says what the model is made of"))]
    except (OSError, ValueError) as error:
        return [*problems, ("config.json", Text("is not JSON: {error}", error=error))]
    if isinstance(config, dict) and "auto_map" in config:
        problems.append(("config.json", Text("names code of its own (auto_map), which is not run")))
    return problems
