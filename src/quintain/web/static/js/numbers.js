// Numbers, shares and dates as readers of the page's language write them, in figures that every font has.

const language = document.documentElement.lang || "en";
export const LOCALE = `${language}-u-nu-latn`;

const writers = new Map(); // making one takes longer than writing a hundred numbers

function writer(style, low, high) {
  const key = `${style} ${low} ${high}`;
  if (!writers.has(key)) {
    writers.set(key, new Intl.NumberFormat(LOCALE, { style, minimumFractionDigits: low, maximumFractionDigits: high }));
  }
  return writers.get(key);
}

/** Write a number with *digits* after the point; with *most*, only as many as it needs. */
export function number(value, digits = 0, most = digits) {
  return writer("decimal", digits, most).format(value);
}

/** Write a number with at most so many digits that tell something. */
export function significant(value, digits) {
  const key = `significant ${digits}`;
  if (!writers.has(key)) writers.set(key, new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: digits }));
  return writers.get(key).format(value);
}

/** Write a share of one as a percentage. */
export function percent(share, digits = 0, most = digits) {
  return writer("percent", digits, most).format(share);
}

const parts = new Intl.NumberFormat(LOCALE, { useGrouping: true }).formatToParts(-12345678.9);
const part = (type, otherwise) => parts.find((one) => one.type === type)?.value ?? otherwise;
const groups = parts.filter((one) => one.type === "integer").map((one) => one.value.length).reverse();
const sign = percent(0.5).replace("50", "");

/** How Vega writes the numbers of axes and tooltips. */
export const NUMBERS = {
  decimal: part("decimal", "."),
  thousands: part("group", ","),
  grouping: groups.length > 1 && groups[1] !== groups[0] ? [groups[0], ...Array(8).fill(groups[1])] : [3],
  currency: ["", ""],
  percent: sign,
  minus: "\u2212",
};

const dates = (options, days) => days.map((day) => new Intl.DateTimeFormat(LOCALE, { ...options, timeZone: "UTC" }).format(day));
const week = Array.from({ length: 7 }, (_, day) => Date.UTC(2023, 0, 1 + day)); // from a Sunday
const year = Array.from({ length: 12 }, (_, month) => Date.UTC(2023, month, 1));

/** How Vega writes days and months. */
export const DATES = {
  dateTime: "%x, %X",
  date: "%Y-%m-%d",
  time: "%H:%M:%S",
  periods: ["AM", "PM"],
  days: dates({ weekday: "long" }, week),
  shortDays: dates({ weekday: "short" }, week),
  months: dates({ month: "long" }, year),
  shortMonths: dates({ month: "short" }, year),
};
