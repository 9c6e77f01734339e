// Rows of URLs in the claims sub and aud that are nearly right.
import type { MistakeRow, RepeatableMistake } from "../../rows/mistake.js";

/** The wrong URL that a mistake makes of the right one. */
type RewriteUrl = (wanted: ExpectedUrls) => string | undefined;

/** The right values of the claims sub and aud. */
export interface ExpectedUrls {
  /** The right value of this claim. */
  readonly url: string;
  /** The right value of the other claim: the base URL for aud, the listener's URL for sub. */
  readonly counterpart: string;
}

const FROM_CONFIGURATION = "Copy it from the trigger's configuration, character by character.";

/** URLs that are nearly right. `ofClaim` puts the claim's name in front of each id. */
export const URL_MISTAKES: readonly RepeatableMistake<RewriteUrl>[] = [
  {
    id: "trailing-slash",
    title: "has a trailing slash",
    message: "ends with a slash that must not be there.",
    fix: "Remove it: url.replace(/\\/$/, '').",
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

/** URLs in which one part differs; `differs` compares them. */
export const URL_DIFFERENCES: readonly (MistakeRow & {
  readonly differs: (seen: string, wanted: string) => boolean;
})[] = [
  {
    id: "placeholder",
    title: "has a placeholder",
    message: "has the name of a variable, or undefined, where its value belongs.",
    fix: `${FROM_CONFIGURATION} Put the values in: backticks and \${…} in JavaScript, f'…' in Python.`,
    differs: (seen) =>
      /\{[\w. ]+\}|<[\w -]+>|\$\w+|(?:^|\/)(?:undefined|null|None|nil|NaN|:\w+)(?:$|\/)/.test(seen),
  },
  {
    id: "quoted",
    title: "has quotes around it",
    message: "has quotes or brackets around it, as a text of JSON has.",
    fix: "Set the text itself, not JSON.stringify(url).",
    differs(seen, wanted) {
      const at = wanted === "" ? -1 : seen.indexOf(wanted);
      const [before, after] = [seen.slice(0, at), seen.slice(at + wanted.length)];
      return at > 0 && /^[["'<{\s]+$/.test(before) && /^[\]"'>}\s]+$/.test(after);
    },
  },
  {
    id: "double-slash",
    title: "has two slashes",
    message:
      "has two slashes where one belongs: a base that ends with one was joined with a path that begins with one.",
    fix: "Join them with one: new URL(path, base).href, or base.replace(/\\/$/, '') + path.",
    differs: (seen, wanted) => seen !== wanted && seen.replace(/([^:])\/{2,}/g, "$1/") === wanted,
  },
  {
    id: "percent-encoded",
    title: "is percent-encoded",
    message: "has characters percent-encoded that the configured URL has as they are.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => seen !== wanted && percentDecoded(seen) === wanted,
  },
  {
    id: "without-listener-id",
    title: "has no listener id",
    message: "ends before the listener's id.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) =>
      /\/incoming\/[^/]+$/.test(wanted) && seen.replace(/\/$/, "") === beforeLast(wanted),
  },
  {
    id: "id-alone",
    title: "is the listener's id",
    message: "is the listener's id alone. It must be a URL.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => seen !== "" && wanted.endsWith(`/incoming/${seen}`),
  },
  {
    id: "longer",
    title: "has more path",
    message: "has more of a path than the configured URL.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) =>
      wanted !== "" && seen.startsWith(`${wanted}/`) && seen.length > wanted.length + 1,
  },
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
    fix: "Remove it: url.trim().",
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
    id: "spelling",
    title: "is the same URL in another spelling",
    message:
      "is the configured URL in another spelling: scheme, port, case or a slash at the end, one that is missing or several of them.",
    fix: FROM_CONFIGURATION,
    differs: (seen, wanted) => wanted !== "" && plain(seen) === plain(wanted),
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
  {
    id: "path",
    title: "has another path",
    message:
      "has the configured URL's host and another path, such as the one behind a proxy or of another version.",
    fix: `${FROM_CONFIGURATION} Do not build it from the route that your program sees.`,
    differs: (seen, wanted) => originOf(seen) !== undefined && originOf(seen) === originOf(wanted),
  },
];

/** A URL without what is often written otherwise. */
function plain(url: string): string {
  return url
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/^([^/?#:]*):(?:80|443)(?=\/|$)/, "$1")
    .replace(/\/$/, "");
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

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
