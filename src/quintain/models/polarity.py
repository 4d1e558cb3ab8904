"""A small lexicon of English words that praise or blame, written for this package.

Strength is 1 (mild), 2 (clear) or 3 (strong). The words come from everyday talk about food, places, films, products
and services; inflected forms are listed where they are common.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintain.models.words import listed

_PRAISE = {
    3: """
    amazing astonishing awesome best brilliant breathtaking dazzling delightful excellent exceptional exquisite
    extraordinary fabulous fantastic flawless gem glorious impeccable incredible invaluable irresistible love loved
    loves loving magical magnificent marvelous marvellous masterful masterpiece mesmerizing outstanding perfect
    perfection perfectly phenomenal priceless remarkable riveting sensational spectacular splendid stunning sublime
    superb superbly terrific thrilled thrilling treasure triumph unforgettable unbeatable wonderful wonderfully
    """,
    2: """
    absorbing admirable adorable affectionate appealing appreciate appreciated attentive beautiful beautifully beauty
    beloved bright bravo captivating caring charm charming cheerful clever comfortable compelling congratulations
    courteous cozy cosy creative crisp cute delicious delight delighted dependable elegant enchanting endearing
    engaging engrossing enjoy enjoyable enjoyed enjoying enjoys enlightening entertaining enthusiastic exciting
    exhilarating favorite favourite fascinating flavorful flavourful fresh friendly fun funny generous genius gifted
    good gorgeous graceful gracious grateful great greatly gripping handsome happier happily happy heartfelt
    heartwarming helpful hilarious honest hospitable immaculate impress impressed impressive ingenious innovative
    insightful inspired inspiring inventive joy joyful joyous kind kindness knowledgeable lively lovable lovely
    luscious luxurious memorable moving nice nicely nimble original pleasant pleasantly pleased pleasing pleasure
    poignant polished powerful pretty professional profound prompt proud recommend recommended refreshing reliable
    rewarding rich satisfied satisfying scrumptious smart smooth smoothly sincere skilled soothing sparkling spotless
    stellar strong stylish succeed succeeds success successful surprisingly sweet talented tasty tender terrifically
    thankful thoughtful thrill touching trustworthy vibrant vivid warm warmth welcoming win winner winning wise witty
    wow yummy
    """,
    1: """
    able accessible accommodating accurate adequate affordable agreeable ample authentic balanced bargain better bonus
    breezy calm capable careful clean clear coherent competent confident convenient convincing cool correct decent
    easily easy effective efficient effortless enough fair fast fine flexible gain gentle glad handy healthy helped
    helps hope hopeful improved improvement improves interesting intriguing light like liked likeable likable likes
    modern neat okay organized peaceful plenty plus polite popular positive practical quick quickly quiet reasonable
    reasonably relaxed relaxing respectful responsive right safe sane secure sensible sensitive simple solid spacious
    stable steady sturdy subtle suitable superior support thank thanks thorough tidy timely tops trusty upgrade useful
    valuable well willing works worked worth worthwhile worthy
    """,
}
_BLAME = {
    3: """
    abhorrent abominable abysmal appalling atrocious awful cruel despicable despise despised detest detested disaster
    disastrous disgrace disgraceful disgusted disgusting dreadful dire excruciating filthy garbage ghastly hate hated
    hateful hates hideous horrendous horrible horribly horrid horrific infuriating inedible insufferable loathe
    loathed loathsome miserable miserably nasty nauseating nightmare obnoxious pathetic putrid repugnant repulsive
    revolting rotten scam sickening terrible terribly torture trash unbearable unforgivable unusable unwatchable vile
    vomit worst worthless wretched
    """,
    2: """
    absurd abuse abusive angry annoy annoyed annoying anger arrogant ashamed awkward bad badly banal bitter bland
    boring bored boredom broke broken bug buggy bugs careless chaotic cheat cheated cheap clumsy complain complained
    complaint complaints condescending confused confusing contrived corrupt crap crappy crash crashed crashes crashing
    creepy crude damage damaged damn dangerous dead deceptive defective deplorable depressing derivative dirty
    disappoint disappointed disappointing disappointment disappoints dishonest dislike disliked dismal dismissive
    disrespectful dull dumb embarrassing empty error errors exhausting fail failed failing fails failure fake flat
    flaw flawed flop foolish forgettable fraud frustrated frustrating frustration gloomy greasy gross grim grubby harm
    harmful harsh hopeless hurt idiotic ignorant ignored inaccurate inane incoherent incompetent inconvenient inept
    inferior insipid insult insulting insulted irritated irritating joke junk lackluster lacklustre laughable lazy
    leak leaked leaking lies lifeless lousy ludicrous manipulative meaningless mediocre mess messy mindless mislead
    misleading monotonous moldy mouldy neglected negative noisy nonsense offended offensive outrageous overcooked
    overpriced overrated overlong painful painfully plodding pointless poor poorly pretentious problem problems rancid
    regret ridiculous rip-off rude ruined ruins sad sadly shabby shallow shame shameful sick shoddy silly slimy sloppy
    smelly soggy soulless sour spoiled stale stink stinks stolen stupid suck sucked sucks suffer suffered suffers
    tacky tasteless tedious tepid tiresome trite ugly unacceptable unappetizing unbelievable uncomfortable
    underwhelming undercooked uneven unfair unfortunate unfortunately unfriendly unfunny unhappy unhelpful
    unimaginative uninspired uninteresting unpleasant unprofessional unreliable unresponsive unsafe unsatisfied
    unsatisfying unwelcome upset useless vapid vulgar waste wasted wasting weak worse worsened
    """,
    1: """
    afraid average barely burnt busy cliche cliched clichéd cold complicated concern concerned conventional costly
    cramped crowded delay delayed delays difficult doubt doubtful dry expensive familiar fault faulty fear flimsy
    forced formulaic generic hard hardly heavy-handed hesitant hollow impossible inconsistent insufficient lack lacked
    lacking lacks late loose lose loses losing loss lost loud lukewarm lumpy miss missed misses missing mistake
    mistakes mundane odd off outdated overdone pale plain predictable pricey pushy repetitive risky rough routine
    rushed scratched scratches scary sluggish slow slowly small steep stiff strange stuck struggle struggled struggles
    superficial thin tired tough trouble troubled uncertain unclear unconvincing uneasy unexpected unimpressed
    unimpressive unsure vague wait waited waiting wear weird wooden worn worried worry wrong
    """,
}

POLARITY: Mapping[str, float] = {
    word: sign * strength
    for sign, groups in ((1.0, _PRAISE), (-1.0, _BLAME))
    for strength, listed in groups.items()
    for word in listed.split()
}

NEGATORS = listed(
    """no not never none nobody nothing nowhere neither nor cannot without hardly scarcely barely lacks lacking
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't shouldn't
    wasn't weren't won't wouldn't n't"""
)

INTENSITY: Mapping[str, float] = {
    **dict.fromkeys(listed("absolutely completely deeply entirely especially exceptionally extremely fully"), 1.5),
    **dict.fromkeys(listed("highly incredibly insanely particularly really remarkably so super such thoroughly"), 1.4),
    **dict.fromkeys(listed("too totally truly unbelievably utterly very wildly way most"), 1.4),
    **dict.fromkeys(listed("almost fairly kinda mildly partly quite rather relatively slightly"), 0.7),
    **dict.fromkeys(listed("somewhat sorta moderately occasionally sometimes mostly"), 0.7),
}

# After these, what a sentence says weighs more than what it said before.
TURNS = frozenset(("but", "however", "yet", "nevertheless", "nonetheless", "still"))
