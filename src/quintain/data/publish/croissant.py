"""A data set described for machines: Croissant 1.0 of MLCommons, in JSON-LD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quintain.core.escaping import visible
from quintain.data.publish.collection import Collection, PublishedSplit
from quintain.data.publish.votes import MEANING

_OWN = """
citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath
key md5 parentField path recordSet references regex repeated replace samplingRate separator source subField transform
"""
# The context that the specification gives, word for word: readers compare it.
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OWN.split()},
}
_LABELS = "labels"
_MEANING = {
    "id": "The hash of the inputs.",
    "answer": "The gold answer; empty where it is withheld.",
    "tags": "Tags of the example.",
    "group": "Examples that belong together have the same.",
    **MEANING,
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the distribution: where it lies in the folder, and by what it can be checked."""

    path: str
    size: int
    sha256: str


def croissant(collection: Collection, files: Mapping[str, DataFile]) -> dict[str, Any]:
    """Describe *collection*, whose splits are in *files*, by their names."""
    licenses, citations = collection.licenses, collection.citations
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": collection.name,
        "description": visible(collection.description),
        **({"license": licenses[0] if len(licenses) == 1 else licenses} if licenses else {}),
        **({"citeAs": "\n\n".join(citations)} if citations else {}),
        "datePublished": collection.date,
        **({"version": collection.version} if collection.version else {}),
        "inLanguage": collection.languages,
        "distribution": [_file(files[split.name]) for split in collection.splits],
        "recordSet": [
            *([_enumeration(collection.labels)] if collection.labels else []),
            *(_records(split, collection, files[split.name]) for split in collection.splits),
        ],
    }


def _file(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _enumeration(labels: Sequence[str]) -> dict[str, Any]:
    key = f"{_LABELS}/name"
    return {
        "@type": "cr:RecordSet",
        "@id": _LABELS,
        "name": _LABELS,
        "description": "The labels that there are.",
        "dataType": "sc:Enumeration",
        "key": {"@id": key},
        "field": [{"@type": "cr:Field", "@id": key, "name": "name", "dataType": "sc:Text"}],
        "data": [{key: label} for label in labels],
    }


def _records(split: PublishedSplit, collection: Collection, file: DataFile) -> dict[str, Any]:
    # A split may be called as the labels are; a record set may not.
    name = f"{split.name}_examples" if split.name == _LABELS else split.name
    fields = [_field(name, column, dtype, file) for column, dtype in collection.schema.items()]
    if collection.labels and split.answers:  # a column of nothing cannot be joined with the labels
        answer = next(field for field in fields if field["name"] == "answer")
        answer["references"] = {"field": {"@id": f"{_LABELS}/name"}}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{split.rows} examples: {split.ref}.",
        "field": fields,
    }


def _field(records: str, column: str, dtype: Any, file: DataFile) -> dict[str, Any]:
    many = isinstance(dtype, pl.List)
    inner = dtype.inner if isinstance(dtype, pl.List) else dtype
    field: dict[str, Any] = {"@type": "cr:Field", "@id": f"{records}/{column}", "name": column}
    if column in _MEANING:
        field["description"] = _MEANING[column]
    if many:
        field["repeated"] = True
    if not isinstance(inner, pl.Struct):
        return {**field, "dataType": _type(inner), "source": _source(file, column)}
    parts = [_part(f"{records}/{column}", column, part, file, many=many) for part in inner.fields]
    return {**field, "subField": parts}


def _part(above: str, column: str, part: pl.Field, file: DataFile, *, many: bool) -> dict[str, Any]:
    path = f"{'$[*]' if many else '$'}{_step(part.name)}"
    source = {**_source(file, column), "transform": {"jsonPath": path}}
    return {
        "@type": "cr:Field",
        "@id": f"{above}/{part.name}",
        "name": part.name,
        "dataType": _type(part.dtype),
        **({"repeated": True} if many else {}),
        "source": source,
    }


def _step(name: str) -> str:
    """Lead to a part of a structure; labels may be any text.

    >>> _step("start"), _step("very good")
    ('.start', '["very good"]')
    """
    if name.isidentifier():
        return f".{name}"
    return f"['{name}']" if '"' in name else f'["{name}"]'


def _source(file: DataFile, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": file.path}, "extract": {"column": column}}


def _type(dtype: Any) -> str:
    return {pl.Int64: "cr:Int64", pl.Float64: "sc:Float", pl.Boolean: "sc:Boolean"}.get(type(dtype), "sc:Text")
