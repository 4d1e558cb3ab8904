// What a word is, in every script: the rules of `core/words.py`, which tells why. A test compares them.

const ALONE =
  String.raw`[\p{Alphabetic}&&[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}` +
  String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}` +
  String.raw`\p{Script=Tai_Tham}\p{Script=Tai_Viet}\u3006\u30fc\uff70\uff9e\uff9f]]`;
const LETTERS = String.raw`\p{Alphabetic}\p{N}\p{Pc}`;
const UNSEEN = String.raw`\u00ad\u200c-\u200f\u2060\ufeff`;
const FIRST = `[[${LETTERS}]--${ALONE}]`;
const OTHERS = String.raw`[[${LETTERS}\p{M}]--${ALONE}]`;
const WORD = String.raw`${ALONE}[\p{M}\u200d]*|${FIRST}${OTHERS}*(?:[${UNSEEN}]+${OTHERS}+)*`;
const MARK = String.raw`[^${LETTERS}\p{White_Space}][\p{M}\p{Emoji_Modifier}]*`;
const SIGN = String.raw`\p{Regional_Indicator}{2}|${MARK}(?:\u200d${MARK})*`;

export const PIECE = new RegExp(String.raw`${WORD}|\p{White_Space}+|${SIGN}`, "gv");
const BEGINS = new RegExp(`^[${LETTERS}]`, "v");

/** Cut all of a text into words, stretches of white space and signs. */
export function piecesOf(text) {
  return text.match(PIECE) ?? [];
}

/** Whether a piece is a word, and no space or sign. */
export function isWord(piece) {
  return BEGINS.test(piece);
}
