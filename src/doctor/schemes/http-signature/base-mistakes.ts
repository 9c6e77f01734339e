// Rows of a signature base that is put together in another way than RFC 9421 says.
import type { RepeatableMistake } from "../../rows/mistake.js";
import type { BaseWay } from "./url-mistakes.js";

const LINE = 'Write every line as "name": value, with the quotes, a colon and one blank.';
const LAST =
  'End the text with "@signature-params": and exactly what stands behind the label in Signature-Input: the list and the parameters, in their order.';

const ways = (...of: readonly NonNullable<BaseWay["text"]>[]) =>
  of.map((text, place) => [place < 8 ? 1 : 2, { text }] as const);

const joined = (lines: readonly string[], last: string) => [...lines, last].join("\n");

/** The last line with other parameters. */
const lastAs =
  (change: (value: string) => string): NonNullable<BaseWay["text"]> =>
  (lines, last) =>
    joined(lines, change(last));

/** What may stand behind the list. */
const PARAMETERS = [
  /;alg=(?:"[^"]*"|[0-9]+)/,
  /;keyid=(?:"[^"]*"|[0-9]+)/,
  /;created=(?:"[^"]*"|[0-9]+)/,
  /;expires=(?:"[^"]*"|[0-9]+)/,
  /;nonce=(?:"[^"]*"|[0-9]+)/,
  /;tag=(?:"[^"]*"|[0-9]+)/,
];

/** Ways to write the lines. */
export const BASE_MISTAKES: readonly RepeatableMistake<BaseWay>[] = [
  {
    id: "lines-written-otherwise",
    title: "Lines written otherwise",
    message:
      "It matches with the lines of the text written in another form: without the blank, with quotes around the values, or with names in capitals.",
    fix: LINE,
    ways: ways(
      (lines, last) => joined(lines, last).replace(/^("[^"]*"): /gm, "$1:"),
      (lines, last) => joined(lines, last).replace(/^("[^"]*"): /gm, "$1 : "),
      (lines, last) =>
        joined(
          lines.map((line) => line.replace(/^("[^"]*"): (.*)$/, '$1: "$2"')),
          last,
        ),
      (lines, last) =>
        joined(
          lines.map((line) => line.replace(/^("[^"]*"): /, "$1=")),
          last,
        ),
      (lines, last) => joined(lines.map(inTitleCase), last),
      (lines, last) =>
        joined(
          lines.map((line) => line.replace(/^"[^"]*"/, (name) => name.toUpperCase())),
          last,
        ),
      (lines, last) => joined(lines, last).toLowerCase(),
      (lines, last) =>
        joined(
          lines.map((line) => line.replace(/^"([^"]*)"/, "$1")),
          last,
        ),
      (lines, last) => joined(lines, last.replace(/^"([^"]*)"/, "$1")),
      (lines, last) =>
        joined(
          lines.map((line) => line.replace(/^"[^"]*": /, "")),
          last,
        ),
      (lines, last) =>
        joined(
          lines.map((line) => line.replace(/^"@/, '"')),
          last,
        ),
    ),
  },
  {
    id: "lines-joined-otherwise",
    title: "Lines joined otherwise",
    message: "It matches with something else than one line break between the lines.",
    fix: "Join the lines by LF alone, and write none in front or behind the last.",
    ways: ways(
      (lines, last) => [...lines, last].join(""),
      (lines, last) => [...lines, last].join(" "),
      (lines, last) => [...lines, last].join(", "),
      (lines, last) => [...lines, last].join("\n\n"),
      (lines, last) => [...lines, last].join("\\n"),
      (lines, last) => `\n${joined(lines, last)}`,
      (lines, last) => [...lines, last].join("\n ").trimEnd(),
      (lines, last) => [...lines, last].map((line) => `${line}\r\n`).join(""),
      (lines, last) => [...lines, last].map((line) => `${line} `).join("\n"),
    ),
  },
  {
    id: "parameters-signed-otherwise",
    title: "@signature-params in another form",
    message: "It matches with another form of the last line than what Signature-Input has.",
    fix: LAST,
    ways: [
      ...ways(
        lastAs((last) => last.replace(/^"@signature-params": /, "$&sig1=")),
        lastAs((last) => last.replace(/^"@signature-params": /, "$&sig=")),
        lastAs((last) => last.replace(/^"@signature-params": \([^)]*\);?/, '"@signature-params": ')),
        lastAs((last) => last.replace(/\).*$/, ")")),
        lastAs((last) => last.replaceAll(";", "; ")),
        lastAs((last) => last.replaceAll('" "', '", "')),
        lastAs((last) => last.replaceAll('" "', '","')),
        lastAs((last) => last.replace(/\(([^)]*)\)/, (list) => list.replaceAll('"', ""))),
        lastAs((last) => last.replace(/;(keyid|alg|nonce|tag)="([^"]*)"/g, ";$1=$2")),
        lastAs((last) => last.replace(/created=([0-9]+)/, 'created="$1"')),
        lastAs((last) => last.replace(/created=([0-9]+)/, "created=$1000")),
        lastAs((last) => last.replace(/^"@signature-params": /, '"signature-params": ')),
        lastAs((last) => last.replace(/^"@signature-params": /, '"@signature-input": ')),
        lastAs((last) => last.replace(/^"@signature-params": /, '"signature-input": sig1=')),
        lastAs((last) => `${last};`),
      ),
      ...PARAMETERS.map((one) => [1, { text: lastAs((last) => last.replace(one, "")) }] as const),
      ...["hmac-sha256", "ecdsa-p256-sha256", "ed25519", "rsa-v1_5-sha256"].map(
        (alg) => [2, { text: lastAs((last) => `${last.replace(/;alg="[^"]*"/, "")};alg="${alg}"`) }] as const,
      ),
    ],
  },
  {
    id: "other-text-signed",
    title: "Another text signed",
    message:
      "It matches with another text than the one of RFC 9421: the body, the digest, or the lines of the draft before it.",
    fix: `Sign the lines of section 2.5: one for each component, and @signature-params. ${LINE}`,
    ways: ways(
      (_lines, _last, { body }) => body,
      (lines, last, { body }) => `${joined(lines, last)}\n${body}`,
      (lines, last, { body }) => `${joined(lines, last)}${body}`,
      (lines, _last, { body }) => `${lines.join("\n")}\n${body}`,
      (_lines, _last, { headers }) => headers.all("Content-Digest")[0],
      (_lines, _last, { headers }) => headers.all("Signature-Input")[0],
      (lines, _last, { url }) =>
        [
          `(request-target): post ${url.pathname}${url.search}`,
          ...lines.filter((line) => !line.startsWith('"@')).map((line) => line.replace(/^"([^"]*)"/, "$1")),
        ].join("\n"),
      (lines, last) => JSON.stringify(joined(lines, last)),
    ),
  },
];

function inTitleCase(line: string): string {
  return line.replace(/^"[^"@]*"/, (name) =>
    name.replace(/(?<=["-])[a-z]/g, (letter) => letter.toUpperCase()),
  );
}

/** The parameters in this order; others behind them. */
export function inOrder(last: string, order: readonly string[]): string {
  const [list = "", parameters = ""] = last.split(/(?<=\))/, 2);
  const each = parameters.match(/;[a-z]+=(?:"[^"]*"|[0-9]+)/g) ?? [];
  const place = (one: string) => (order.indexOf(/;([a-z]+)/.exec(one)?.[1] ?? "") + 10) % 10;
  return list + [...each].sort((a, b) => place(a) - place(b)).join("");
}
