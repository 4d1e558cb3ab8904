"""The README of a folder in the style of Hugging Face: front matter that `datasets` reads, and a card for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl
import yaml

from quintain.core.escaping import markdown, markdown_block, markdown_code, visible
from quintain.data.publish.collection import Collection
from quintain.data.publish.croissant import DataFile
from quintain.tasks.contract import kind_of

# The licences that the hub has a name for; others are `other`, with the name that they were given.
_KNOWN = """
    afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd bsd-2-clause bsd-3-clause bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5
    cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
    cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0
    cdla-permissive-2.0 cdla-sharing-1.0 ecl-2.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 gfdl gpl gpl-2.0 gpl-3.0 isc lgpl
    lgpl-2.1 lgpl-3.0 mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 openrail osl-3.0 pddl unlicense wtfpl zlib
"""
_LICENSES = frozenset(_KNOWN.split())
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))


class _Plain(yaml.SafeDumper):
    """YAML without references: what is there twice is written twice."""

    def ignore_aliases(self, data: object) -> bool:
        """Never refer to what was written before."""
        return True


def readme(collection: Collection, files: Mapping[str, DataFile]) -> str:
    """Write the README of *collection*, whose splits are in *files*, by their names."""
    return f"---\n{_yaml(front_matter(collection, files))}---\n\n{_card(collection)}"


def _yaml(facts: Mapping[str, Any]) -> str:
    """Write the front matter; where it holds HTML, so that it is none for those who do not know front matter."""
    written = visible(yaml.dump(facts, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120))
    if not re.search("<[a-zA-Z!/?]", written):
        return written
    quoted = yaml.dump(facts, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120, default_style='"')
    return visible(quoted).replace("<", r"\x3c")


def front_matter(collection: Collection, files: Mapping[str, DataFile]) -> dict[str, Any]:
    """Return the fields of the front matter, files and sizes included."""
    splits = [
        {"name": split.name, "num_bytes": files[split.name].size, "num_examples": split.rows}
        for split in collection.splits
    ]
    return {
        "language": collection.languages,
        **_license(collection.licenses),
        "pretty_name": f"{collection.title} ({collection.name})",
        "task_categories": list(kind_of(collection.task).hub_categories),
        "size_categories": [size_category(collection.rows)],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split.name, "path": files[split.name].path} for split in collection.splits],
            }
        ],
        "dataset_info": {"config_name": "default", "features": _features(collection), "splits": splits},
    }


def size_category(rows: int) -> str:
    """Return how large a data set is, in the hub's words.

    >>> size_category(121_634)
    '100K<n<1M'
    """
    return next((name for limit, name in _SIZES if rows < limit), "n>10M")


def _license(licenses: list[str]) -> dict[str, Any]:
    known = [one.lower() for one in licenses if one.lower() in _LICENSES]
    others = [one for one in licenses if one.lower() not in _LICENSES]
    ids = [*known, *(["other"] if others else [])]
    if not ids:
        return {}
    named = {"license_name": ", ".join(others)} if others else {}
    return {"license": ids[0] if len(ids) == 1 else ids, **named}


def _features(collection: Collection) -> list[dict[str, Any]]:
    return [
        {"name": name, "dtype": {"class_label": {"names": _numbered(collection.labels)}}}
        if name == "answer" and collection.labels
        else {"name": name, **_feature(dtype)}
        for name, dtype in collection.schema.items()
    ]


def _numbered(labels: tuple[str, ...]) -> dict[str, str]:
    return {str(at): label for at, label in enumerate(labels)}


def _feature(dtype: Any) -> dict[str, Any]:
    if isinstance(dtype, pl.List):
        inner = dtype.inner
        if isinstance(inner, pl.Struct):
            return {"list": _fields(inner)}
        return {"list": _feature(inner) if isinstance(inner, pl.List) else _feature(inner)["dtype"]}
    if isinstance(dtype, pl.Struct):
        return {"struct": _fields(dtype)}
    return {"dtype": {pl.Int64: "int64", pl.Float64: "float64", pl.Boolean: "bool"}.get(type(dtype), "string")}


def _fields(dtype: pl.Struct) -> list[dict[str, Any]]:
    return [{"name": field.name, **_feature(field.dtype)} for field in dtype.fields]


def _card(collection: Collection) -> str:
    lines = [
        f"# {markdown(collection.title)} ({markdown(collection.name)})",
        "",
        markdown_block(collection.description),
        "",
    ]
    lines += ["| split | version | examples | labels | hash |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {markdown(split.name)} | {markdown(split.ref)} | {split.rows} | "
        f"{'open' if split.answers else 'withheld'} | `{split.hash}` |"
        for split in collection.splits
    ]
    lines += ["", "`id` is the hash of an example's inputs; `answer` is the gold answer."]
    if collection.images:
        lines += ["Images are named by their paths in this folder."]
    if not all(split.answers for split in collection.splits):
        lines += ["Where labels are withheld, `answer` is empty: models are scored on them by those who hold them."]
    if not all(split.inputs for split in collection.splits):
        names = ", ".join(split.name for split in collection.splits if not split.inputs)
        lines += [f"The inputs of {markdown(names)} are withheld, too: their columns are empty."]
    closed = ", ".join(split.name for split in collection.splits if split.closed and split.inputs)
    if closed:
        lines += [f"**The inputs of {markdown(closed)} are not open to all: do not pass this folder on as it is.**"]
    if collection.citations:
        lines += ["", "## Citation", "", "\n\n".join(markdown_code(citation) for citation in collection.citations)]
    return "\n".join(lines) + "\n"
