// Which way things go on: in a page that is written from right to left, the next one is at the left.

/** Whether what an element holds is written from right to left. */
export const isRightToLeft = (element = document.documentElement) => getComputedStyle(element).direction === "rtl";

/** How many steps forward a key goes within `element`: 1, -1, or 0 for any other key. */
export function stepOf(key, element = document.documentElement) {
  const right = isRightToLeft(element) ? -1 : 1;
  return { ArrowRight: right, ArrowLeft: -right }[key] ?? 0;
}
