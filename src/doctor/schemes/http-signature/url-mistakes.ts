// Rows of components and headers that are signed in another form than RFC 9421 gives them.
import type { ReceivedHeaders } from "../../../core/headers.js";
import { requestParts } from "../../../schemes/http-signature/sign.js";
import type { RepeatableMistake } from "../../rows/mistake.js";

/** What may have been signed in place of what the RFC says. */
export interface BaseWay {
  /** The values of components that differ; undefined where this way does not apply. */
  readonly values?: (url: URL, headers: ReceivedHeaders) => Readonly<Record<string, string>> | undefined;
  /** The text that is signed, made of its lines. */
  readonly text?: (lines: readonly string[], last: string, request: Around) => string | undefined;
}

/** What else a text may be made of. */
interface Around {
  readonly url: URL;
  readonly headers: ReceivedHeaders;
  readonly body: string;
}

const AS_IN_RFC =
  "Take each part from the parsed URL: new URL(url) gives host, pathname and search as RFC 9421 section 2.2 wants them.";

const ways = (
  ...of: readonly ((url: URL, parts: (name: string) => string) => Readonly<Record<string, string>>)[]
) =>
  of.map(
    (values, place) =>
      [
        place < 4 ? 1 : 2,
        { values: (url: URL) => values(url, (name) => requestParts(url.href).get(name) ?? "") },
      ] as const,
  );

/** Parts of the URL in another form. */
export const URL_TEXT_MISTAKES: readonly RepeatableMistake<BaseWay>[] = [
  {
    id: "path-signed-otherwise",
    title: "@path in another form",
    message:
      "It matches with another form of @path: with the query, without the slash in front, or as the whole URL.",
    fix: `@path is the path alone, such as /events. ${AS_IN_RFC}`,
    ways: ways(
      ({ pathname, search }) => ({ "@path": pathname + search }),
      ({ pathname }) => ({ "@path": pathname.slice(1) }),
      ({ pathname }) => ({ "@path": pathname.replace(/\/$/, "") }),
      ({ pathname }) => ({ "@path": `${pathname}/` }),
      ({ href }) => ({ "@path": href }),
      ({ pathname }) => ({ "@path": unescaped(pathname) }),
      ({ pathname }) => ({ "@path": pathname.toLowerCase() }),
      ({ pathname }) => ({ "@path": `post ${pathname}` }),
      () => ({ "@path": "" }),
      () => ({ "@path": "/" }),
    ),
  },
  {
    id: "query-signed-otherwise",
    title: "@query in another form",
    message:
      "It matches with another form of @query: without the question mark, decoded, or empty where it is ?.",
    fix: `@query begins with ?, and is ? alone where there is none (RFC 9421 section 2.2.7). ${AS_IN_RFC}`,
    ways: ways(
      ({ search }) => ({ "@query": search.slice(1) }),
      ({ search }) => ({ "@query": unescaped(search) }),
      ({ search }) => ({ "@query": search.replaceAll("%20", "+") }),
      ({ searchParams }) => ({
        "@query": `?${[...searchParams]
          .map((one) => one.join("="))
          .sort()
          .join("&")}`,
      }),
      () => ({ "@query": "" }),
    ),
  },
  {
    id: "authority-signed-otherwise",
    title: "@authority in another form",
    message:
      "It matches with another form of @authority: in capitals, with the scheme or the path, or with a period at its end.",
    fix: `@authority is host and port in small letters, without the default port (RFC 9421 section 2.2.3). ${AS_IN_RFC}`,
    ways: ways(
      ({ host }) => ({ "@authority": host.toUpperCase() }),
      ({ host }) => ({ "@authority": capital(host) }),
      ({ host }) => ({ "@authority": capitals(host) }),
      ({ host }) => ({ "@authority": allCapitals(host) }),
      ({ origin }) => ({ "@authority": origin }),
      ({ host, pathname }) => ({ "@authority": host + pathname }),
      ({ host }) => ({ "@authority": `${host}.` }),
    ),
  },
  {
    id: "target-signed-otherwise",
    title: "@target-uri in another form",
    message:
      "It matches with another form of @target-uri: percent-decoded, not normalised, the path alone, or without scheme or slash.",
    fix: `@target-uri is the whole URL, as new URL(url).href gives it, without a fragment (RFC 9421 section 2.2.2).`,
    ways: ways(
      ({ pathname, search }) => ({ "@target-uri": pathname + search }),
      ({ pathname }) => ({ "@target-uri": pathname }),
      ({ host, pathname, search }) => ({ "@target-uri": host + pathname + search }),
      ({ origin }) => ({ "@target-uri": origin }),
      ({ href, search }) => ({
        "@target-uri": search === "" ? href.replace(/\/$/, "") : href.replace("/?", "?"),
      }),
      ({ href }) => ({ "@target-uri": `${href}/` }),
      ({ href }) => ({ "@target-uri": `${href}?` }),
      ({ href }) => ({ "@target-uri": unescaped(href) }),
      ({ href, host }) => ({ "@target-uri": href.replace(host, host.toUpperCase()) }),
      ({ href, host }) => ({ "@target-uri": href.replace(host, capital(host)) }),
      ({ href, host }) => ({ "@target-uri": href.replace(host, capitals(host)) }),
      ({ href, host }) => ({ "@target-uri": href.replace(host, allCapitals(host)) }),
      ({ href, protocol, host }) => ({
        "@target-uri": href.replace(host, `${host}:${protocol === "https:" ? 443 : 80}`),
      }),
      ({ href, protocol }) => ({ "@target-uri": href.replace(protocol, protocol.toUpperCase()) }),
      ({ href }) => ({ "@target-uri": `post ${href}` }),
    ),
  },
  {
    id: "request-target-signed-otherwise",
    title: "@request-target in another form",
    message:
      "It matches with another form of @request-target: with the method in front, or as the whole URL.",
    fix: `@request-target is path and query (RFC 9421 section 2.2.5). ${AS_IN_RFC}`,
    ways: ways(
      (_, part) => ({ "@request-target": `post ${part("@request-target")}` }),
      (_, part) => ({ "@request-target": `POST ${part("@request-target")}` }),
      (_, part) => ({ "@request-target": `POST ${part("@request-target")} HTTP/1.1` }),
      ({ href }) => ({ "@request-target": href }),
      ({ pathname }) => ({ "@request-target": pathname }),
    ),
  },
  {
    id: "scheme-signed-otherwise",
    title: "@scheme in another form",
    message: "It matches with another form of @scheme: with a colon, or in capitals.",
    fix: "@scheme is https or http, in small letters and without a colon.",
    ways: ways(
      ({ protocol }) => ({ "@scheme": protocol }),
      ({ protocol }) => ({ "@scheme": `${protocol}//` }),
      ({ protocol }) => ({ "@scheme": protocol.slice(0, -1).toUpperCase() }),
    ),
  },
  {
    id: "header-value-signed-otherwise",
    title: "A header's value in another form",
    message: "It matches with another value of a header than the one that arrived.",
    fix: "Sign each header's value as it is sent. Look for a client or proxy that adds charset=utf-8 or changes a value.",
    ways: [
      ...[
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=utf-8",
        "application/json; charset=UTF-8",
        "application/json;charset=UTF-8",
        "",
      ].map((type) => [1, { values: () => ({ "content-type": type }) }] as const),
      [1, { values: (_, headers) => digestAs(headers, (value) => value.replace(/^[^:]*:|:$/g, "")) }],
      [
        1,
        { values: (_, headers) => digestAs(headers, (value) => value.replace(/^([^=]*)=:(.*):$/, "$1=$2")) },
      ],
      [1, { values: (_, headers) => digestAs(headers, (value) => value.replace(/^sha-/, "SHA-")) }],
      [
        1,
        {
          values: (_, headers) =>
            digestAs(headers, (value) =>
              value.replace(
                /:([^:]*):$/,
                (_all, one: string) =>
                  `:${one
                    .replaceAll("+", "-")
                    .replaceAll("/", "_")
                    .replace(/(?<!=)=+$/, "")}:`,
              ),
            ),
        },
      ],
      [
        1,
        {
          values: (_, headers) => ({
            "content-length": headers.all("Content-Length")[0] === undefined ? "" : "0",
          }),
        },
      ],
    ],
  },
];

function capital(host: string): string {
  return host.replace(/^./, (first) => first.toUpperCase());
}

/** Each part but the last begins with a capital, as a name is written. */
function capitals(host: string): string {
  return host.replace(/(?:^|(?<=\.))[a-z](?=[^.]*\.)/g, (first) => first.toUpperCase());
}

function allCapitals(host: string): string {
  return host.replace(/(?:^|(?<=\.))[a-z]/g, (first) => first.toUpperCase());
}

function digestAs(
  headers: ReceivedHeaders,
  change: (value: string) => string,
): Readonly<Record<string, string>> {
  return { "content-digest": change(headers.all("Content-Digest")[0] ?? "") };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
