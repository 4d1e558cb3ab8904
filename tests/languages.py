"""Small corpora of opinions in Chinese, Arabic, Hindi, German and English, written for these tests.

Every thing meets every saying, so that no whole clause of one half of the things occurs in the other half.
"""

from __future__ import annotations

from itertools import product

from quintain.core.task import Label, Task

THINGS = {
    "zh": ("这部电影", "这家餐厅", "那本小说", "我们的房间", "酒店的早餐", "昨天的演出", "新的手机", "他的演讲"),
    "ar": ("هذا الفيلم", "ذلك المطعم", "الكتاب الجديد", "غرفتنا", "فطور الفندق", "عرض الأمس", "هاتفي", "خطابه"),
    "hi": ("यह फ़िल्म", "वह भोजनालय", "नई किताब", "हमारा कमरा", "होटल का नाश्ता", "कल का नाटक", "मेरा फ़ोन", "उसका भाषण"),
    "de": ("Dieser Film", "Das Lokal", "Der Roman", "Unser Zimmer", "Das Frühstück", "Das Stück", "Mein Telefon",
           "Seine Rede"),
    "en": ("This film", "The restaurant", "The novel", "Our room", "The breakfast", "The play", "My phone",
           "His speech"),
}  # fmt: skip
PRAISE = {
    "zh": ("非常精彩", "让人满意", "值得推荐", "比想象的好", "令人愉快"),
    "ar": ("رائع حقا", "ممتع جدا", "يستحق التوصية", "أفضل مما توقعت", "يسعد القلب"),
    "hi": ("बहुत बढ़िया है", "मज़ेदार है", "सबको पसंद आया", "उम्मीद से बेहतर है", "दिल ख़ुश करता है"),
    "de": (
        "ist wirklich großartig",
        "macht viel Freude",
        "ist zu empfehlen",
        "war besser als gedacht",
        "gefällt allen",
    ),
    "en": ("is truly great", "is a real joy", "can be recommended", "was better than expected", "pleases everybody"),
}
BLAME = {
    "zh": ("十分无聊", "叫我失望", "浪费时间", "比以前更差", "令人生气"),
    "ar": ("ممل للغاية", "مخيب للآمال", "مضيعة للوقت", "أسوأ من قبل", "يثير الغضب"),
    "hi": ("बहुत उबाऊ है", "निराश करता है", "समय की बर्बादी है", "पहले से ख़राब है", "ग़ुस्सा दिलाता है"),
    "de": ("ist furchtbar öde", "enttäuscht uns sehr", "kostet nur Zeit", "war schlechter als sonst", "ärgert jeden"),
    "en": ("is terribly dull", "disappoints us all", "wastes our time", "was worse than before", "makes one angry"),
}
STOPS = {"zh": "。", "ar": ".", "hi": "।", "de": ".", "en": "."}
LANGUAGES = tuple(THINGS)
LABELS = ("good", "bad")  # names that no list of words knows


def opinions(language: str, *, half: int) -> list[dict[str, str]]:
    """Return what is said of one *half* of the things (0 or 1), each text with its `answer`."""
    space = "" if language == "zh" else " "
    rows = []
    for thing, (answer, sayings) in product(THINGS[language][half::2], zip(LABELS, (PRAISE, BLAME), strict=True)):
        rows += [{"text": f"{thing}{space}{saying}{STOPS[language]}", "answer": answer} for saying in sayings[language]]
    return rows


def opinion_task(language: str) -> Task:
    """Return a task for these texts."""
    return Task(
        "opinions",
        "text-classification",
        {language: "Opinions"},
        labels=tuple(Label(name) for name in LABELS),
        languages=(language,),
    )
