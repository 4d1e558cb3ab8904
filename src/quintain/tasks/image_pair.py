"""Two images and a sentence that is true or false of them: NLVR2.

An image is an http(s) address, a path relative to the data set, or `blob:` and the SHA-256 of a stored file.
"""

from __future__ import annotations

from typing import ClassVar

from quintain.core.example import Example
from quintain.core.task import Field, Task
from quintain.tasks.contract import KINDS
from quintain.tasks.two_valued import TwoValuedKind


@KINDS.register("image-pair")
class ImagePair(TwoValuedKind):
    """A statement about two images."""

    name: ClassVar[str] = "image-pair"
    title: ClassVar[str] = "Statements about two images"
    hub_categories: ClassVar[tuple[str, ...]] = ("visual-question-answering",)
    fixed_labels: ClassVar[tuple[str, ...]] = ("true", "false")
    example: ClassVar[Example] = Example(
        {
            "left_image": "images/dogs-1.jpg",
            "right_image": "https://example.org/dogs-2.jpg",
            "statement": "There are more dogs in the left image.",
        },
        "true",
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the images, which a prompt gives, and the statement."""
        return (
            Field("left_image", "image", title="Left image", max_length=2_000, perturbable=False, editable=False),
            Field("right_image", "image", title="Right image", max_length=2_000, perturbable=False, editable=False),
            Field("statement", "text", title="Statement", max_length=2_000),
        )
