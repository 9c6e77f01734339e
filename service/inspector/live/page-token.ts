// Takes the token that the page was opened with out of its address.
/** Pages of one server are told apart by their path. */
const KEPT = `hookproof-page-token ${location.pathname}`;

/** An address with a token that is opened in this tab has the same page before its end: the browser loads nothing. */
addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("t")) location.reload();
});

/**
 * The token that this page's address was opened with. It is taken out of the address, so that nobody copies it
 * along, and kept for as long as this tab is open.
 */
export function takePageToken(): string {
  const parts = new URLSearchParams(location.hash.slice(1));
  const token = parts.get("t");
  if (token === null) return sessionStorage.getItem(KEPT) ?? "";
  sessionStorage.setItem(KEPT, token);
  const chosen = parts.get("n");
  history.replaceState(null, "", chosen === null ? location.pathname : `#${chosen}`);
  return token;
}
