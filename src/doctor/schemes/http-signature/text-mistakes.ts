// Rows of texts that are signed in place of what RFC 9421 says.
import { type InnerList, serializeInnerList } from "structured-headers";
import type { ReceivedHeaders } from "../../../core/headers.js";
import { requestParts } from "../../../schemes/http-signature/sign.js";
import { optionsOf, type RepeatableMistake } from "../../rows/mistake.js";
import { BASE_MISTAKES, inOrder } from "./base-mistakes.js";
import { type BaseWay, URL_TEXT_MISTAKES } from "./url-mistakes.js";

const PROXY_FIX =
  "Give the receiver the URL that senders post to, scheme, host and port as they have it, or agree on @path and @query alone.";

/** A profile covers a handful of components; those behind are not moved. */
const MOST_MOVED = 6;

/** In which libraries write the parameters; others are tried later. */
const ORDERS: readonly (readonly string[])[] = [
  ["keyid", "created", "alg"],
  ["alg", "keyid", "created"],
  ["created", "alg", "keyid"],
  ["keyid", "alg", "created"],
  ["alg", "created", "keyid"],
  ["created", "keyid", "alg"],
];

/** What is signed by mistake, in place of what the RFC says: the likeliest first. */
const LIKELY: readonly RepeatableMistake<BaseWay>[] = [
  {
    id: "target-of-other-host",
    title: "Another host was signed",
    message: "It matches with the host of the request's own Host header: the receiver's url is another one.",
    fix: PROXY_FIX,
    ways: [[1, { values: (url, headers) => partsAt(url, { host: headers.all("Host")[0] }) }]],
  },
  {
    id: "target-of-other-host",
    title: "Another host was signed",
    message: "It matches with the host of X-Forwarded-Host: a proxy stands between.",
    fix: PROXY_FIX,
    ways: [[1, { values: (url, headers) => partsAt(url, { host: headers.all("X-Forwarded-Host")[0] }) }]],
  },
  {
    id: "target-of-other-scheme",
    title: "http and https",
    message: "It matches if the URL begins with http in place of https, or the other way round.",
    fix: PROXY_FIX,
    ways: [
      [1, { values: (url) => partsAt(url, { protocol: url.protocol === "https:" ? "http:" : "https:" }) }],
    ],
  },
  {
    id: "target-without-query",
    title: "Query not signed",
    message: "It matches without the query of the URL.",
    fix: "Sign @target-uri with its query, as it is sent.",
    ways: [
      [1, { values: (url) => (url.search === "" ? undefined : partsAt(url, { search: "" })) }],
      [
        1,
        { values: (url) => (url.search === "" ? undefined : { "@target-uri": url.origin + url.pathname }) },
      ],
    ],
  },
  ...portMistakes(),
  {
    id: "method-in-small-letters",
    title: "Method in small letters",
    message: "It matches with the method in small letters.",
    fix: "Sign @method as it is sent, in capitals: POST.",
    ways: ["post", "Post"].map((method) => [1, { values: () => ({ "@method": method }) }] as const),
  },
  {
    id: "components-in-other-order",
    title: "Components in another order",
    message: "It matches with the lines in another order than Signature-Input lists them.",
    fix: "Write the lines in the order of Signature-Input.",
    ways: [[1, { text: (lines, last) => [...lines].sort().concat(last).join("\n") }]],
  },
  {
    id: "components-in-other-order",
    title: "Components in another order",
    message: "It matches with the lines in the opposite order of Signature-Input.",
    fix: "Write the lines in the order of Signature-Input.",
    ways: [[1, { text: (lines, last) => [...lines].reverse().concat(last).join("\n") }]],
  },
  {
    id: "components-in-other-order",
    title: "Components in another order",
    message:
      "It matches with two lines in each other's place, or with one moved to the front or the end, against the order of Signature-Input.",
    fix: "Write the lines in the order of Signature-Input, and sign its list as it is sent.",
    ways: movedLines(),
  },
  {
    id: "parameters-as-lines",
    title: "Parameters signed as lines",
    message: "It matches with lines for created, or for created and keyid, in place of @signature-params.",
    fix: 'End the text with the line "@signature-params": and the value of Signature-Input behind the label.',
    ways: [
      [1, { text: (lines, last) => [...lines, ...parameterLines(last)].join("\n") }],
      ...['"created"', "created", "(created)"].map((name) => [1, { text: withCreated(name) }] as const),
      [2, { text: (lines, last) => [...parameterLines(last), ...lines].join("\n") }],
    ],
  },
  {
    id: "parameters-signed-otherwise",
    title: "@signature-params in another form",
    message:
      "It matches with the line @signature-params before the others, or with its parameters in another order.",
    fix: 'End the text with "@signature-params": and exactly what stands behind the label in Signature-Input: the list and the parameters, in their order.',
    ways: [
      [1, { text: (lines, last) => [last, ...lines].join("\n") }],
      ...ORDERS.map((order) => [1, inThisOrder(order)] as const),
    ],
  },
  {
    id: "parameters-not-signed",
    title: "@signature-params not signed",
    message: "It matches without the last line, @signature-params.",
    fix: 'End the text with the line "@signature-params": and the value of Signature-Input behind the label.',
    ways: [
      [1, { text: (lines) => lines.join("\n") }],
      [1, { text: (lines) => `${lines.join("\n")}\n` }],
    ],
  },
  {
    id: "names-without-quotes",
    title: "Names without quotes",
    message: "It matches with the names of the components without their quotes.",
    fix: 'Write every line as "name": value, with the quotes.',
    ways: [
      [
        1,
        {
          text: (lines, last) => [...lines, last].map((line) => line.replace(/^"([^"]*)"/, "$1")).join("\n"),
        },
      ],
    ],
  },
  {
    id: "line-ends-differ",
    title: "Other line ends",
    message: "It matches with CR and LF between the lines, or with a line break at the end.",
    fix: "Join the lines by LF alone, and write none behind the last.",
    ways: [[1, { text: (lines, last) => [...lines, last].join("\r\n") }]],
  },
  {
    id: "line-ends-differ",
    title: "Other line ends",
    message: "It matches with a line break at the end.",
    fix: "Join the lines by LF alone, and write none behind the last.",
    ways: [[1, { text: (lines, last) => `${[...lines, last].join("\n")}\n` }]],
  },
  {
    id: "header-joined-otherwise",
    title: "Header lines joined otherwise",
    message:
      "It matches if several lines of one header are joined without a blank, or only the first counts.",
    fix: 'Join them by ", " (RFC 9421 section 2.1), and take white space around each away.',
    ways: [[1, { values: (_url, headers) => joinedBy(headers, ",") }]],
  },
  {
    id: "header-joined-otherwise",
    title: "Header lines joined otherwise",
    message: "It matches if of several lines of one header only the first counts.",
    fix: 'Join them by ", " (RFC 9421 section 2.1), and take white space around each away.',
    ways: [[1, { values: (_url, headers) => joinedBy(headers, undefined) }]],
  },
];

/** Everything that is signed by mistake. */
export const TEXT_MISTAKES: readonly RepeatableMistake<BaseWay>[] = [
  ...LIKELY,
  ...URL_TEXT_MISTAKES,
  ...BASE_MISTAKES,
];

/** What the RFC says, and all of that. */
export const SIGNED_TEXTS = { text: optionsOf<BaseWay>({}, TEXT_MISTAKES) };

/** Two lines changed with each other, or one moved; the list in the last line as it is sent, and in the order of the lines. */
function movedLines(): RepeatableMistake<BaseWay>["ways"] {
  const places = Array.from({ length: MOST_MOVED }, (_, place) => place);
  const moves = [
    ...places.flatMap((to) => places.slice(0, to).map((from) => (all: string[]) => changed(all, from, to))),
    ...places.slice(2).map((from) => (all: string[]) => all.splice(0, 0, ...all.splice(from, 1))),
    ...places.map((from) => (all: string[]) => all.splice(all.length, 0, ...all.splice(from, 1))),
  ];
  return moves.flatMap((move) =>
    [false, true].map((isListed) => {
      const text: BaseWay["text"] = (lines, last) => {
        const order = lines.map((_, place) => String(place));
        move(order);
        const moved = order.map((place) => lines[Number(place)] ?? "");
        const names = moved.map((line) => /^"[^"]*"/.exec(line)?.[0] ?? "").join(" ");
        const end = isListed ? last.replace(/\([^)]*\)/, () => `(${names})`) : last;
        return [...moved, end].join("\n");
      };
      return [2, { text }] as const;
    }),
  );
}

function changed(all: string[], from: number, to: number): void {
  const [one, other] = [all[from], all[to]];
  if (one !== undefined && other !== undefined) Object.assign(all, { [from]: other, [to]: one });
}

/** A port too many or too few, in @authority alone and in the whole URL too. */
function portMistakes(): readonly RepeatableMistake<BaseWay>[] {
  const withPort = {
    id: "authority-with-port",
    title: "Port in @authority",
    message: "It matches with the default port behind the host.",
    fix: "Leave the port of @authority out where it is the default one of the scheme (RFC 9421 section 2.2.3).",
    authority: ({ port, hostname, protocol }: URL) =>
      port === "" ? `${hostname}:${protocol === "https:" ? "443" : "80"}` : undefined,
  };
  const withoutPort = {
    id: "authority-without-port",
    title: "Port missing in @authority",
    message: "It matches without the port behind the host.",
    fix: "Sign @authority with a port that is not the default one.",
    authority: ({ port, hostname }: URL) => (port === "" ? undefined : hostname),
  };
  return [withPort, withoutPort].map(({ authority, ...mistake }) => ({
    ...mistake,
    ways: [false, true].map((inUrl) => [1, { values: authorityOf(authority, inUrl) }] as const),
  }));
}

function authorityOf(
  authority: (url: URL) => string | undefined,
  inUrl: boolean,
): (url: URL) => Readonly<Record<string, string>> | undefined {
  return (url) => {
    const own = authority(url);
    const uri = inUrl && own !== undefined ? { "@target-uri": url.href.replace(url.host, own) } : {};
    return own === undefined ? undefined : { "@authority": own, ...uri };
  };
}

function partsAt(
  url: URL,
  change: { host?: string | undefined; protocol?: string; search?: string },
): Readonly<Record<string, string>> | undefined {
  if (Object.values(change).includes(undefined)) return undefined;
  const other = new URL(url);
  Object.assign(other, change);
  const names = ["@target-uri", "@authority", "@scheme", "@request-target", "@query"];
  const parts = requestParts(other.href);
  return Object.fromEntries(names.map((name) => [name, parts.get(name) ?? ""]));
}

function inThisOrder(order: readonly string[]): BaseWay {
  return { text: (lines, last) => [...lines, inOrder(last, order)].join("\n") };
}

/** A line for each of created and keyid. */
function parameterLines(last: string): readonly string[] {
  const created = /;created=([0-9]+)/.exec(last)?.[1];
  const keyid = /;keyid="([^"]*)"/.exec(last)?.[1];
  return Object.entries({ created, keyid }).flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}": ${value}`],
  );
}

/** The lines of the components, and one for created alone. */
function withCreated(name: string): NonNullable<BaseWay["text"]> {
  return (lines, last) => {
    const created = /;created=([0-9]+)/.exec(last)?.[1];
    return created && [...lines, `${name}: ${created}`].join("\n");
  };
}

/** The headers with several lines. */
function joinedBy(
  headers: ReceivedHeaders,
  separator: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const several = SEVERAL.flatMap((name) => {
    const lines = headers.all(name);
    return lines.length > 1
      ? [[name, separator === undefined ? (lines[0] ?? "") : lines.join(separator)]]
      : [];
  });
  return several.length === 0 ? undefined : Object.fromEntries(several);
}

const SEVERAL = ["content-type", "cache-control", "accept", "date", "x-forwarded-for", "via"];

/** A signed request, and what no way of writing the text changes. */
interface SignedRequest {
  readonly components: readonly string[];
  readonly url: URL;
  readonly headers: ReceivedHeaders;
  readonly body: string;
  readonly parts: ReturnType<typeof requestParts>;
  /** The line `@signature-params`. */
  readonly last: string;
}

/** Works out once what every text of a request has in common. */
export function signedRequest(
  { components, input }: { readonly components: readonly string[]; readonly input: InnerList },
  request: Pick<SignedRequest, "url" | "headers" | "body">,
): SignedRequest {
  const last = `"@signature-params": ${serializeInnerList(input)}`;
  return { ...request, components, parts: requestParts(request.url.href), last };
}

/**
 * The text that one signature is made over, by the RFC or in another way (`values`, `text`); undefined where that way has
 * nothing to change.
 */
export function signedText(
  request: SignedRequest,
  { values, text = (lines, last) => [...lines, last].join("\n") }: BaseWay,
): string | undefined {
  const { components, url, headers, parts, last } = request;
  const others = values ? values(url, headers) : {};
  if (others === undefined) return undefined;
  const lines = components.map((name) => {
    const own = Object.hasOwn(others, name) ? others[name] : parts.get(name);
    return `"${name}": ${own ?? headers.all(name).join(", ")}`;
  });
  return text(lines, last, request);
}
