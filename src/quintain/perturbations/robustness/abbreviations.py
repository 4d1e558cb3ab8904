"""The short forms of text messages: "you" → "u", "great" → "gr8"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.spellings import abbreviated
from quintain.perturbations.robustness.lookup import exchange
from quintain.perturbations.wordlists import words_in

_SHORT = dict(
    pair.split("=")
    for pair in words_in(
        "you=u your=ur you're=ur are=r why=y be=b see=c for=4 to=2 too=2 great=gr8 late=l8 later=l8r wait=w8 "
        "before=b4 because=cuz please=plz thanks=thx people=ppl really=rly probably=prolly tomorrow=2moro "
        "tonight=2nite today=2day message=msg about=abt with=w/ without=w/o something=smth someone=sm1 "
        "anyone=any1 everyone=every1 though=tho through=thru enough=enuf love=luv know=kno between=btwn "
        "picture=pic pictures=pics minutes=mins minute=min seconds=secs hours=hrs hour=hr favorite=fav "
        "favourite=fav definitely=def obviously=obv information=info okay=ok night=nite right=rite going=goin "
        "nothing=nuthin the=da them=dem that=dat this=dis should=shud would=wud could=cud have=hav when=wen "
        "what=wat"
    )
)


@PERTURBATIONS.register("abbreviations")
class Abbreviations(Perturbation):
    """Write words as in a text message."""

    name: ClassVar[str] = "abbreviations"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    table = "abbreviations"
    title: ClassVar[str] = "Short forms of text messages"
    version: ClassVar[int] = 2

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Look each word up."""
        return exchange(batch, _SHORT, rate)

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return abbreviated(batch, rate, table)
