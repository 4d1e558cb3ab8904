"""What a test expects to be refused: by the code that programs tell refusals apart by, and not by their words."""

from __future__ import annotations

import pytest
from _pytest.raises import RaisesExc

from quintain.core.errors import QuintainError


def refusal(kind: type[QuintainError], code: str) -> RaisesExc[QuintainError]:
    """Expect an error of *kind* with this *code*, whatever it says."""
    return pytest.raises(kind, check=lambda error: error.code == code)
