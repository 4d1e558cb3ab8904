"""Which language a sentence is in, told by its small words: articles, pronouns, prepositions, auxiliaries.

A word that several languages share counts for each of them in part. A sentence without enough small words of its own
("Delicious!") is taken to be in the language of the text that it stands in. This tells languages in the Latin script
apart that are listed here, and nothing else: a sentence in Norwegian is taken for its nearest neighbour, and one in
Russian for none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import polars as pl

SMALL_WORDS: Mapping[str, str] = {
    "en": "the and of to a in is was it for that with on this we were my they had but not you are have be at as "
    "our so i very just from all would he she his her their there what when which who will can could has "
    "been or if an them me us your out up about than then too did don t s ve ll only no one more get got "
    "back here how after",
    "de": "der die das und ist nicht ein eine einen einem einer zu in den von mit für auf es war wir ich sie er "
    "auch an im dem des sich aber sehr hat haben wurde werden wird als bei nach noch nur oder wie so man "
    "uns mir mich ihr sein seine aus zum zur über kein keine wenn weil dass was hier dort schon immer "
    "sind waren hatte kann doch mehr vom",
    "fr": "le la les un une des de du et est pas ne que qui dans pour sur avec au aux ce cette ces il elle nous "
    "vous je on se son sa ses mais très plus était étaient sont été avons avez ont par en y leur l d c j "
    "n qu s tout tous bien comme même aussi si fait être avoir où sans notre mon ma mes après encore",
    "es": "el la los las un una de del y es no que en por para con se lo al su sus muy pero más era fue son nos "
    "me mi le les como está están estaba todo todos hay sin ya también o cuando este esta esto ni si "
    "porque qué fuimos tiene tienen hemos había ser sólo solo donde desde hasta nada yo ellos",
    "it": "il lo la i gli le un una uno di del della dei delle e è non che in per con si al alla ai da dal "
    "dalla ma molto più era sono siamo abbiamo ho ha hanno anche come questo questa ci mi se nel nella "
    "sul sulla tutto tutti l dell all c stato stata essere solo dove quando io noi loro perché poi",
    "pt": "o a os as um uma de do da dos das e é não que em no na nos nas por para com se ao à mas muito mais "
    "foi era são eu nós me meu minha seu sua como também está estava tudo todos sem já ou quando este "
    "esta isso ele ela eles tem têm fomos pelo pela só até ser há depois",
    "nl": "de het een en van is niet in op te dat die voor met was we ik zijn er aan ook maar zeer heel bij "
    "naar om als ze hij hebben heeft had werd worden wordt nog dan wel geen ons onze mijn je uit over "
    "door wat waar hier kan kunnen veel waren zo of deze dit al meer",
    "sv": "och det att i en som är på för av med den inte ett var vi jag om men till de har hade så från man "
    "kan mycket där när han hon sig oss min mitt våra här blev bli eller då nu bara ut efter vid alla "
    "också skulle detta dem du",
    "pl": "i w na z do się nie to jest że o jak ale po co za od był była było są bardzo dla tylko już mi nam "
    "nas przez przy tak tym tego które która który ten ta te może można jednak czy lub oraz ze we my mnie "
    "jego jej ich tu też gdy",
    "tr": "ve bir bu da de için çok ile ne ama o daha gibi kadar en ben biz var yok mi mı mu değil olarak sonra "
    "her şey ki bize bana çünkü hiç oldu olan idi iyi diye hem ya veya şu onu bunu göre",
}
LANGUAGES = tuple(SMALL_WORDS)
ENOUGH = 1.0  # whole small words of its own from which a sentence speaks for itself
CLEAR = 1.5  # times the score of the next language


def _lexicon() -> pl.DataFrame:
    pairs = [(word, language) for language, words in SMALL_WORDS.items() for word in dict.fromkeys(words.split())]
    shared = Counter(word for word, _ in pairs)
    rows = [(word, language, 1 / shared[word]) for word, language in pairs]
    return pl.DataFrame(
        rows, schema={"word": pl.String(), "language": pl.String(), "score": pl.Float64()}, orient="row"
    )


LEXICON = _lexicon()


def languages_of(texts: pl.Series, documents: pl.Series) -> pl.Series:
    """Return the language of each text, null where it cannot be told; *documents* says which belong together.

    >>> texts = pl.Series(["The soup was cold.", "Die Suppe war kalt.", "Lecker!"])
    >>> languages_of(texts, pl.Series([0, 1, 1])).to_list()
    ['en', 'de', 'de']
    """
    table = pl.DataFrame({"row": pl.int_range(len(texts), dtype=pl.UInt32(), eager=True), "document": documents})
    words = texts.str.to_lowercase().str.extract_all(r"\p{L}+")
    hits = (
        table.with_columns(words.alias("word"))
        .explode("word", empty_as_null=True)
        .join(LEXICON, on="word", how="inner")
        .group_by("row", "document", "language")
        .agg(pl.col("score").sum())
    )
    own = _best(hits, "row").filter((pl.col("score") >= ENOUGH) & (pl.col("score") >= CLEAR * pl.col("next")))
    whole = _best(hits.group_by("document", "language").agg(pl.col("score").sum()), "document")
    whole = whole.filter((pl.col("score") >= ENOUGH) & (pl.col("score") > pl.col("next")))
    languages = table.join(own.select("row", "language"), on="row", how="left", maintain_order="left").join(
        whole.select("document", pl.col("language").alias("whole")),
        on="document",
        how="left",
        maintain_order="left",
    )
    return languages.select(pl.coalesce("language", "whole").alias("language"))["language"]


def _best(scores: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the best language of each row or document, its score, and that of the next."""
    ordered = scores.sort(by, "score", "language", descending=[False, True, False])
    return ordered.group_by(by, maintain_order=True).agg(
        pl.col("language").first(),
        pl.col("score").first(),
        pl.col("score").get(1, null_on_oob=True).fill_null(0.0).alias("next"),
    )
