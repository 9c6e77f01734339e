// What the answers of all pages say to browsers.
/**
 * What the answers of every page say to the browser: it may load what `sources` names and nothing else, and no other
 * site may look into it.
 */
export function pageHeaders(...sources: string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
}
