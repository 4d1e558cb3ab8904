// Light or dark: the system's wish until a person says otherwise; then a cookie, so that the server draws it at once.

const YEAR = 365 * 24 * 3600;

function current() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function toggleTheme() {
  const theme = current() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  document.cookie = `quintain_theme=${theme}; path=/; max-age=${YEAR}; samesite=lax`;
  document.dispatchEvent(new CustomEvent("quintain:theme"));
}
