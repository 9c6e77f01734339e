import type { Mistake, Trial } from "./mistake.js";

/** A URL as it should be, rewritten by a mistake. */
export type RewriteUrl = (wanted: ExpectedUrls) => string | undefined;

/** What the claims sub and aud are made of. */
export interface ExpectedUrls {
  /** What this claim must be. */
  readonly url: string;
  /** The claim's counterpart: the base URL for aud, the listener's URL for sub. */
  readonly counterpart: string;
}

const FROM_CONFIGURATION = "Copy it from the trigger's configuration, character by character.";

/** How sub and aud are nearly right; a claim's name is put before each id. */
export const URL_TRIALS: readonly Trial<RewriteUrl>[] = [
  {
    id: "trailing-slash",
    title: "has a trailing slash",
    message: "ends with a slash that must not be there.",
    fix: "Take it off: url.replace(/\\/$/, '').",
    ways: [[1, ({ url }) => `${url}/`]],
  },
  {
    id: "swapped",
    title: "is the other URL",
    message: "is the other of the two URLs: sub is the base URL, aud the listener's URL.",
    fix: "Set { sub: baseUrl, aud: baseUrl + '/api/v1/webhooks/incoming/' + listenerId }.",
    ways: [
      [1, ({ counterpart }) => counterpart],
      [2, ({ counterpart }) => `${counterpart}/`],
    ],
  },
  {
    id: "scheme",
    title: "has another scheme",
    message: "has http where https belongs, or the other way round.",
    fix: `${FROM_CONFIGURATION} Behind a proxy that ends TLS, do not build it from the request.`,
    ways: [[1, ({ url }) => url.replace(/^http(s?):/, (_, s) => (s === "" ? "https:" : "http:"))]],
  },
  {
    id: "without-scheme",
    title: "has no scheme",
    message: "has no https:// in front.",
    fix: FROM_CONFIGURATION,
    ways: [
      [2, ({ url }) => url.replace(/^https?:\/\//, "")],
      [2, ({ url }) => hostOf(url)],
    ],
  },
  {
    id: "origin-only",
    title: "has lost its path",
    message: "is the origin alone, without its path.",
    fix: FROM_CONFIGURATION,
    ways: [[2, ({ url }) => originOf(url)]],
  },
  {
    id: "path-only",
    title: "is a path",
    message: "is the path alone, without scheme and host.",
    fix: `${FROM_CONFIGURATION} In a server request.url is the path only.`,
    ways: [[2, ({ url }) => url.slice(originOf(url)?.length)]],
  },
  {
    id: "port",
    title: "has a port",
    message: "names the default port, which the configured URL does not, or leaves out one that it has.",
    fix: FROM_CONFIGURATION,
    ways: [
      [
        1,
        ({ url }) =>
          url.replace(/^(https:\/\/[^/:]+)(?=\/|$)/, "$1:443").replace(/^(http:\/\/[^/:]+)(?=\/|$)/, "$1:80"),
      ],
      [2, ({ url }) => url.replace(/^(https?:\/\/[^/]+):[0-9]+/, "$1")],
    ],
  },
];

/** Where only a part differs, whatever stands there. */
export const URL_DIFFERENCES: readonly (Mistake & {
  readonly differs: (seen: string, wanted: string) => boolean;
})[] = [
  {
    id: "case",
    title: "is in other case",
    message: "differs from the configured URL in upper and lower case only.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => seen.toLowerCase() === wanted.toLowerCase(),
  },
  {
    id: "space",
    title: "has white space around it",
    message: "has white space around it.",
    fix: "Take it off: url.trim().",
    differs: (seen, wanted) => seen.trim() === wanted,
  },
  {
    id: "query",
    title: "has a query or fragment",
    message: "has a query or a fragment, which the configured URL does not.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => seen.replace(/[?#].*$/s, "") === wanted,
  },
  {
    id: "host",
    title: "has another host",
    message:
      "has another host or port than the configured URL, such as the one of a tunnel, a proxy or another stage.",
    fix: `${FROM_CONFIGURATION} Do not build it from the address you connect to.`,
    differs: (seen, wanted) => originOf(seen) !== undefined && pathOf(seen) === pathOf(wanted),
  },
  {
    id: "listener-id",
    title: "has another listener id",
    message: "names another listener.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => wanted.includes("/") && beforeLast(seen) === beforeLast(wanted),
  },
];

function originOf(url: string): string | undefined {
  return /^https?:\/\/[^/?#]+/i.exec(url)?.[0];
}

function hostOf(url: string): string | undefined {
  return originOf(url)?.replace(/^https?:\/\//i, "");
}

function pathOf(url: string): string {
  return url.slice(originOf(url)?.length);
}

function beforeLast(url: string): string {
  return url.slice(0, url.lastIndexOf("/"));
}
