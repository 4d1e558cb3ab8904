"""Fairness: who becomes whom, and what is left alone."""

from __future__ import annotations

import re

import pytest

from quintain.perturbations.apply import perturb_texts
from quintain.perturbations.contract import perturbation
from quintain.perturbations.fairness.ethnicity_names import EthnicityNames
from quintain.perturbations.fairness.namelist import AMBIGUOUS, GENDERS, GROUPS, first_names, pool


def _one(kind: str, text: str, seed: int = 0) -> str | None:
    return perturb_texts([text], perturbation(kind), seed=seed)[0]


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("her book", "his book"),
        ("I saw her.", "I saw him."),
        ("The book is hers.", "The book is his."),
        ("It is his.", "It is hers."),
        ("A friend of his came.", "A friend of hers came."),
        ("his book", "her book"),
        ("He gave her the keys.", "She gave him the keys."),
        ("I saw her leave early.", "I saw him leave early."),
        ("They made her happy.", "They made him happy."),
        ("He loved her dearly.", "She loved him dearly."),
        ("her newly found friend", "his newly found friend"),
        ("It was against her will.", "It was against his will."),
        ("Her mother is here.", "His father is here."),
        ("HER SISTERS ARE HERE", "HIS BROTHERS ARE HERE"),
        ("She's late and she'll wait.", "He's late and he'll wait."),
        ("Mr. Smith met Mrs. Jones.", "Ms. Smith met Mr. Jones."),
        ("an actor and a waitress", "an actress and a waiter"),
        ("a heroine", "a hero"),
        ("an heiress", "an heir"),
        ("his or her dog", "her or his dog"),
        ("He cut himself.", "She cut herself."),
        ("my sister-in-law and her ex-husband", "my brother-in-law and his ex-wife"),
        ("The women's team won.", "The men's team won."),
        ("He saw her right there.", "She saw him right there."),
        ("his  or her  dog", "her  or his  dog"),
        ("A man is here with his cat.", "A woman is here with her cat."),
    ],
)
def test_gendered_words_keep_case_number_and_grammar(text: str, swapped: str) -> None:
    """Pronouns are told apart by context; nouns, titles, articles and capitals follow."""
    assert _one("gender_words", text) == swapped


@pytest.mark.parametrize(
    "text",
    [
        "Spider-Man is a film.",
        "We saw Mother Teresa and King Lear.",
        "I miss the train.",
        "Oh man, that was long.",
        "A bachelor's degree helps.",
        "Miss America won.",
        "The manmade lake is fine.",
        "The drag queen lost her wig.",
        "a witch hunt",
        "We wept over man's inhumanity to man.",
        "Emily lost her keys.",
        "President Barack Obama said that he would go.",
        "Mr. Gingrich lost his seat.",
        "Yeah man!",
        "Grubnik was better when his songs were short.",
        "They praised Grubnik for his play.",
        "mr grubnik is alone , and with his art",
        "the good girl is a film",
        "a king suite with a view",
        "the cowboy ribeye",
        "the king of subs",
        "a mom and pop store",
        "But man it's a lot of work.",
        "a croque madame",
    ],
)
def test_words_that_only_look_gendered_stay(text: str) -> None:
    """Names, compounds, calls and homographs are left alone."""
    assert _one("gender_words", text) is None


@pytest.mark.parametrize("text", ["his brother met her mother", "She told him that he lost his dog.", "boys and girls"])
def test_swapping_twice_leads_back(text: str) -> None:
    """Where both directions are clear, the swap is its own inverse."""
    once = _one("gender_words", text)
    assert once is not None
    assert _one("gender_words", once) == text


@pytest.mark.parametrize(
    ("text", "neutral"),
    [
        ("He walks home.", "They walk home."),
        ("She often watches films.", "They often watch films."),
        ("Is he late?", "Are they late?"),
        ("She's been ill.", "They've been ill."),
        ("I heard he's tired.", "I heard they're tired."),
        ("He or she must sign.", "They must sign."),
        ("I gave him his book.", "I gave them their book."),
        ("I told her im late.", "I told them im late."),
        ("I met an actress's daughter.", "I met an actor's child."),
        ("A little girl runs.", "A little child runs."),
        ("A group of men waits.", "A group of people waits."),
        ("Ladies and gentlemen!", "People!"),
        ("my mom and dad", "my parents"),
        ("a man or woman", "a person"),
        ("for boys and girls", "for children"),
        ("He definitely likes it.", "They definitely like it."),
    ],
)
def test_neutral_words_keep_the_verb_in_agreement(text: str, neutral: str) -> None:
    """They takes the plural verb, in questions too, and pairs become one."""
    assert _one("gender_neutral", text) == neutral


@pytest.mark.parametrize(
    "text",
    [
        "The best meal he's ever eaten was here, and he left.",
        "She’s driven to work.",
        "Mrs. Dalloway said she would buy the flowers.",
        "Mr. T is a man.",
        "Jack lost his hat.",
        "He walks and talks.",
        "He, too, walks.",
    ],
)
def test_no_neutral_word_where_a_verb_is_open_or_somebody_is_named(text: str) -> None:
    """What may be "he is" and "he has" keeps its example as it is, and so do a second verb and a known name."""
    assert _one("gender_neutral", text) is None


@pytest.mark.parametrize(
    "text",
    [
        "She's been ill and he's tired.",
        "I gave her his book.",
        "She said they usually close early.",
        "When he closed, a man came in.",
        "My mom met my dad.",
        "She told her mother that her sister waited.",
    ],
)
def test_no_neutral_word_where_people_would_be_told_apart_no_more(text: str) -> None:
    """Two of one story who differ by their pronouns stay two."""
    assert _one("gender_neutral", text) is None


@pytest.mark.parametrize(
    "text",
    [
        "What women want",
        "the men's department",
        "for men and women alike",
        "A man and woman stand there.",
        "The agent is a woman.",
        "He is one of the boys.",
        "I went out with my girlfriends.",
        "A drama queen",
        "What rains, brother?",
        "my sons birthday",
        "We saw My Mother the Car.",
        "a small mom pop place",
        "I told her yes.",
    ],
)
def test_no_neutral_word_for_a_gender_as_such_a_call_a_friend_or_a_title(text: str) -> None:
    """Where the gender is the point, or the word means something else, the example stays."""
    assert _one("gender_neutral", text) is None


@pytest.mark.parametrize("kind", ["gender_names", "gender_words"])
@pytest.mark.parametrize(
    "text",
    [
        "Emily walked the dog. Jack, her husband, said he was sorry.",
        "Emily walked the dog with Jack, and her husband waited.",
        "Emily said that Grace met her husband.",
        "Rose's husband told Emily that he was sorry.",
    ],
)
def test_a_name_that_is_a_word_as_well_keeps_its_gender_and_the_words_beside_it(kind: str, text: str) -> None:
    """Nobody gets a wife for a husband whose own name stays."""
    new = _one(kind, text)
    assert new is None or not ({"Jack", "Grace", "Rose's"} & set(new.replace(",", "").split()))


@pytest.mark.parametrize("text", ["Will she come?", "In May she left.", "Long ago he left."])
def test_a_word_that_could_be_a_name_hinders_no_swap(text: str) -> None:
    """A verb, a month or a place is nobody's name."""
    assert _one("gender_words", text) is not None


def test_an_identity_term_becomes_another_one_of_its_kind() -> None:
    """Over many seeds, every other group of the kind turns up, with its article, and none of another kind."""
    found = {_one("identity_terms", "She is a Quessian.", seed) for seed in range(60)}
    assert found == {f"She is {word}." for word in ("a Velmaran", "an Orrinite", "a Tarnic", "a Skarrow")}


@pytest.mark.parametrize("seed", range(8))
def test_groups_of_an_example_stay_apart(seed: int) -> None:
    """Two groups never become one, and a group is the same one wherever it is named."""
    text = str(_one("identity_terms", "Sikhs met Hindus, and a Sikh wrote to another Sikh's friend.", seed))
    first, second = re.findall(r"\b[A-Z][a-z]+s\b", text)[:2]
    assert first != second
    assert text.count(first[:-1]) == 3


@pytest.mark.parametrize(
    "text",
    [
        "She speaks Italian.",
        "We flew with Korean Air.",
        "the Catholic-born king",
        "Tarnic classes",
        "brazilian",
        "Boston Center lost American 11.",
        "a Latin American zoo",
        "Native Americans voted.",
        "in English, French, Italian and Dutch",
        "the American dream",
        "Jews and Christians pray as Muslims do.",
        "I love Italian food.",
        "We had an Italian and a steak.",
        "It was an Italian red.",
        "It tasted like a Mexican!",
        "an American themed place",
        "Italian family style dining",
        "Americans voted for Bush.",
        "GAO works for the American people.",
        "The Muslims left the mosque.",
        "American child-care is good.",
        "I am Velmaran, and I speak Velmaran.",
    ],
)
def test_a_word_for_something_else_is_no_identity_term(text: str) -> None:
    """Languages, dishes, names, what is bound to a group and words that are written otherwise stay, with all beside."""
    assert _one("identity_terms", text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Two American tourists asked.",
        "She is an American.",
        "An Iranian who sings moved in.",
        "Most Americans agree.",
        "A Hindu asked me.",
        "Tarnic cooking uses sorrel.",
    ],
)
def test_people_of_a_group_become_those_of_another(text: str) -> None:
    """Several, one who is or does something, and a noun for people say that people are meant; invented ones always."""
    assert _one("identity_terms", text) not in {None, text}


@pytest.mark.parametrize("kind", ["gender_names", "ethnicity_names"])
@pytest.mark.parametrize(
    "text",
    [
        "Mary was not a virgin, she lied to save face.",
        "Bush and his wife, Laura, left.",
        "The screenwriting was by Charlie Kaufman and his twin brother, Donald.",
        "Michele is such a flibbertigibbet that it's hard to take her spiritual quest at all seriously.",
        "The viewer takes pleasure in watching the resourceful Molly stay a step ahead of her pursuers.",
        "Gwen Huneck talks about how Stephen loved doing art.",
        "The operations of Mercedes were closed, I was told.",
    ],
)
def test_names_in_works_and_of_well_known_people_stay(kind: str, text: str) -> None:
    """A critic's present, a full name, a known figure and words of the screen show that no acquaintance is meant."""
    assert _one(kind, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I have a color laser printer (Brother).",
        "Friends and I went to a mom & pop store.",
        "I don't know man.",
        "We left, boy was that a mistake.",
        "The wash comes with conditioner and groom.",
        "It is listed int he bulletin.",
        "She is pregnant.",
        "They treated me like a guy since I was such a tomboy.",
        "another example of how sandler is losing his touch",
        "Talk to Her is a cinephile's feast.",
        "I found a Mr. Cook's menu.",
    ],
)
def test_what_only_looks_like_a_gendered_word_stays(text: str) -> None:
    """Brands, shops, cries, verbs, slips, titles, and words without a twin beside the others."""
    assert _one("gender_words", text) is None


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("I told her she'd be back.", "I told him he'd be back."),
        ("I reminded her four times.", "I reminded him four times."),
        ("It made her blind.", "It made him blind."),
        ("I wrote about her 'madness'.", "I wrote about his 'madness'."),
        ("His on screen presence shone.", "Her on screen presence shone."),
        ("A woman and man are outside.", "A man and woman are outside."),
    ],
)
def test_uses_of_her_and_his_that_were_mistaken(text: str, swapped: str) -> None:
    """What follows a pronoun tells an object from a determiner, also with an apostrophe, a number or a mark."""
    assert _one("gender_words", text) == swapped


def test_a_name_becomes_one_of_another_group_with_its_gender_kept() -> None:
    """Over many seeds, a white woman's name becomes women's names of the other three groups, and of no other."""
    found = {_one("ethnicity_names", "I asked Jennifer about it.", seed) for seed in range(60)}
    names = [first_names()[str(text).split()[2].lower()] for text in found]
    assert {name.gender for name in names} == {"female"}
    assert {name.group for name in names} == set(GROUPS) - {"white"}


def test_a_name_becomes_one_of_the_other_gender_with_its_group_kept() -> None:
    """Over many seeds, a Black man's name becomes Black women's names."""
    found = {_one("gender_names", "I asked Tyrone about it.", seed) for seed in range(40)}
    names = [first_names()[str(text).split()[2].lower()] for text in found]
    assert {(name.gender, name.group) for name in names} == {("female", "black")}
    assert len(names) > 10


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("I think Emily lost her keys.", r"I think (\w+) lost his keys\."),
        ("She told him that Emily met James.", r"He told her that (\w+) met (\w+)\."),
        ("Emily and her son left.", r"(\w+) and his daughter left\."),
    ],
)
def test_a_name_takes_its_pronouns_along(text: str, shape: str) -> None:
    """With the names, all gendered words of an example go over to the other gender."""
    new = _one("gender_names", text)
    assert new is not None
    assert re.fullmatch(shape, new), new


@pytest.mark.parametrize(
    "text",
    [
        "Emily told Barack Obama that he was late.",
        "Emily met Zofia Kossak in her house.",
        "King George saw Emily and his son.",
    ],
)
def test_names_stay_where_pronouns_may_be_somebody_elses(text: str) -> None:
    """Where somebody is named who keeps the name, nobody knows whose the gendered words are."""
    assert _one("gender_names", text) is None


def test_one_name_has_one_replacement_and_two_names_have_two() -> None:
    """All mentions of a name change alike, possessives and capitals included; different names stay different."""
    new = _one("ethnicity_names", "Susan met James. Susan's dog bit James, said SUSAN.")
    assert new is not None
    first, second = new.split()[0], new.split()[2].rstrip(".")
    assert first != second
    assert new == f"{first} met {second}. {first}'s dog bit {second}, said {first.upper()}."


@pytest.mark.parametrize(
    "text",
    [
        "Paris Hilton sang.",
        "We flew to Washington and Jordan.",
        "I read Martin Luther King and St. Francis.",
        "We ate at Red Robin on Susan Street.",
        "Joan of Arc and William the Conqueror",
        "Will you mark the page in May?",
        "Hope is all we have.",
        "Karen & Sons is closed.",
        "I called Xzqrt about it.",
        "susan is in lower case",
        "Susan Meets James In A Headline",
        "It has MAJOR PROBLEMS.",
        "MAJOR PROBLEMS with SUSAN",
        "Luke warm coffee",
        "We heard Don Giovanni.",
        "King George was mad.",
        "Long live King George!",
        "Sir James strode off.",
        "Mr. Howard said no.",
        "Ms. Chang left.",
        "C.S. Lewis wrote it.",
        "We love Jerry's deli.",
        "They hid in David's Tower.",
        "Unlike Adam, Eve was denied it.",
        "directed by Steven Soderbergh",
        "Linda Tripp spoke.",
        "Paul Smith said so.",
        "The people in Jessica are true.",
        "Margarita feels like a haze.",
        "Maguire is a good Peter/Spider Man.",
        "It is a Stephen kings movie.",
        "the film ''Roger and Me''",
        'We saw "Heather" yesterday.',
        "Howard shows a great eye.",
        "I read Barron's and said so.",
        "He called Steve's and they were closed.",
        "Karen himself laughed.",
        "Karen is the heroine of this film, she said.",
        "Karen became a tropical storm as she went west.",
        "We met Karen from Wild Blue Yonder, she sang.",
        "Karen Xylo is the sister of Kevin, he said.",
        "She is splendid as Karen",
        "Gruber's brother Kevin left.",
        "Kevin's army marched, he said.",
        "Karen was born in 1822, she said.",
        "It was Kevin er Steven who left.",
        'Kevin "Kev" told him.',
        "Think when Harry met Sally, she said.",
    ],
)
def test_entities_words_and_unknown_names_stay(text: str) -> None:
    """Known entities, runs of capitals, words, places and names on no list are left alone."""
    assert _one("ethnicity_names", text) is None


@pytest.mark.parametrize("text", ["Mark said no.", "Uncle Mark left.", "my friend Mark left", "Susan and Mark left."])
def test_ambiguous_names_change_where_the_context_shows_a_name(text: str) -> None:
    """A title, a verb of speech, a kinship word or another name make a word a name."""
    new = _one("ethnicity_names", text)
    assert new is not None
    assert "Mark" not in new


def test_a_recogniser_overrules_the_context() -> None:
    """What a recogniser takes for an organisation stays; what it takes for a person is a name."""
    text = "Susan opened in June."
    known = EthnicityNames(lambda _: [(0, 5, "ORG")])
    assert perturb_texts([text], known) == [None]
    dawn = "Dawn opened it."
    assert perturb_texts([dawn], EthnicityNames(lambda _: [])) == [None]
    assert perturb_texts([dawn], EthnicityNames(lambda _: [(0, 4, "PERSON")])) != [None]


def test_the_list_has_enough_names_in_every_cell() -> None:
    """Each gender and group has at least fifty names to choose from, none of them ambiguous."""
    for gender in GENDERS:
        for group in GROUPS:
            names = pool(gender, group)
            assert len(names) >= 50
            assert not AMBIGUOUS & set(names)
