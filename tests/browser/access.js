// What axe can tell pages apart by: a page's structure, and the ways in which its words are painted.
// Words, and how often something is repeated, change nothing that it looks for.
() => {
  const TARGETS = new Set(["aria-controls", "aria-describedby", "aria-labelledby", "aria-owns", "for", "headers", "list"]);
  const KEPT = new Set(["autocomplete", "lang", "name", "role", "scope", "tabindex", "type"]);
  const LANDMARKS = "[role], aside, footer, form, header, main, nav, section";
  const PAINT = [
    "color", "backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode", "textShadow", "fontSize",
    "fontWeight", "position", "overflow", "clip", "clipPath", "textDecorationLine", "borderBottomWidth",
    "borderBottomColor",
  ];
  const ways = new Map();

  const digest = (...parts) => {
    const text = parts.join("|");
    let [first, second] = [0x811c9dc5, 5381];
    for (let place = 0; place < text.length; place += 1) {
      const code = text.charCodeAt(place);
      first = Math.imul(first ^ code, 0x01000193);
      second = (Math.imul(second, 33) + code) | 0;
    }
    return (first >>> 0).toString(36) + (second >>> 0).toString(36);
  };
  const exists = (id) => document.getElementById(id) !== null;
  const attribute = (one, { name, value }) => {
    if (["class", "id", "style"].includes(name)) return "";
    if (TARGETS.has(name)) return `${name}=${value.split(/\s+/).map(exists)}`;
    if (name === "href") return `href=${value.startsWith("#") ? exists(value.slice(1)) : "away"}`;
    if (name === "aria-label" && one.matches(LANDMARKS)) return `${name}=${value}`;
    const told = KEPT.has(name) || (name.startsWith("aria-") && !/[\s\d]/.test(value));
    return told ? `${name}=${value.replace(/\d+/g, "0")}` : `${name} ${value.trim() === ""}`;
  };
  const walk = (one, above) => {
    const style = getComputedStyle(one);
    const shown = one.checkVisibility({ visibilityProperty: true });
    const off = one.matches(":disabled, [aria-disabled=true]");
    const words = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const way = digest(above, one.localName, one.getAttribute("class"), off, ...PAINT.map((key) => style[key]));
    if (shown && (words || one.matches("input, select, textarea")) && !ways.has(way)) ways.set(way, one);
    const scrolls =
      /auto|scroll/.test(style.overflow) && (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight);
    const below = new Map();
    for (const child of one.matches("script, style") ? [] : one.children) {
      const alike = walk(child, way);
      below.set(alike, Math.min((below.get(alike) ?? 0) + 1, 2));
    }
    const attributes = [...one.attributes].map((each) => attribute(one, each)).sort();
    return digest(one.localName, shown, off, Boolean(words), scrolls, ...attributes, "(", ...[...below].flat());
  };

  const structure = walk(document.documentElement, "");
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  window.waysToPaint = ways;
  return { structure: digest(structure, new Set(ids).size === ids.length), ways: [...ways.keys()] };
}
