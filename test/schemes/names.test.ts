import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LISTENER_CHECKS } from "../../src/schemes/access-governance/checks.js";
import {
  EVENT_ID_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../../src/schemes/access-governance/protocol.js";

const root = new URL("../../", import.meta.url);
const FOLDER = "src/schemes/";

/** The files and folders outside a scheme's folder that may name one, each with the reason. */
const SEAMS: Readonly<Record<string, string>> = {
  "src/schemes/default-verifier.ts": "says whose verifier a receiver with a listener has",
  "src/index.ts": "the main door has the default scheme's signers",
  "src/testing/fake-receiver.ts": "a receiver of the default scheme, for tests",
  "src/doctor/": "the mistakes of all schemes, and probes for them: no file of the library needs them",
  "cli/src/schemes/schemes.ts": "the table of --scheme: data, no branches elsewhere",
  "cli/src/commands/inspect.ts": "tells the tokens of one scheme from others",
  "cli/src/explain/security-event-token.ts": "what is wrong with the token of one scheme",
  "cli/src/schemes/chosen-scheme.ts": "the flags and examples of each scheme",
  "service/src/server/send-json.ts": "the local service has its own name in WWW-Authenticate",
};

/** The public sentences of all codes, in one table with their statuses: those of the default scheme name its headers. */
const SENTENCES = "src/core/errors.ts";

/** The files of a scheme: what is sent, what is received, what an answer means; and its door. */
const FILES = ["sign.ts", "verify.ts", "answers.ts", "index.ts"];

/** More files of a scheme, each with the reason. */
const MORE_FILES: Readonly<Record<string, string>> = {
  "access-governance/checks.ts": "what a listener demands; a part of the public list `CHECKS`",
  "access-governance/claims.ts": "the claims of its tokens, both sides",
  "access-governance/hmac.ts": "its signature, both sides",
  "access-governance/jwt.ts": "its token",
  "access-governance/likely-causes.ts": "what may be behind its refusals, for sender and doctor",
  "access-governance/listener-url.ts": "the form of its listeners' URLs",
  "access-governance/protocol.ts": "its header names, and what is signed",
  "access-governance/secret.ts": "its secrets",
  "http-signature/signature-fields.ts": "reads the two headers, for both sides and the mistakes",
  "standard-webhooks/key.ts": "its secrets and the names of its headers, for both sides and the mistakes",
};

const schemes = readdirSync(new URL(FOLDER, root), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const files = ["src/", "cli/src/", "service/src/", "service/inspector/"].flatMap((folder) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}${name}`),
);

/** `standard-webhooks` as a text, and as part of a name in either way of writing. */
function namesIn(text: string, scheme: string): string[] {
  const words = scheme.split("-").map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  const camel = words.join("");
  const spellings = [
    scheme,
    `${camel[0]?.toLowerCase()}${camel.slice(1)}`,
    camel,
    words.join("_").toUpperCase(),
  ];
  // Comments may speak of a scheme; code may not.
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return spellings.filter((spelling) => code.includes(spelling));
}

/** The names of schemes that a file has in its code, beside those of its own folder. */
function foreignNames(path: string): string[] {
  const text = readFileSync(new URL(path, root), "utf8");
  return schemes
    .filter((scheme) => !path.startsWith(`${FOLDER}${scheme}/`))
    .flatMap((scheme) => namesIn(text, scheme));
}

it("no file outside a scheme's folder names a scheme", () => {
  expect(schemes).toContain("access-governance");
  const found = files
    .filter((path) => !Object.keys(SEAMS).some((seam) => path.startsWith(seam)))
    .flatMap((path) => foreignNames(path).map((name) => `${path}: ${name}`));
  expect(found).toEqual([]);
});

it("no file compares a scheme's name, and every seam is needed", () => {
  const compares = /\bscheme(?:\??\.(?:settings\.)?name|Name)?\s*[!=]==?\s*["'`]/i;
  const found = files.filter((path) => compares.test(readFileSync(new URL(path, root), "utf8")));
  expect(found).toEqual([]);
  expect(compares.test('if (scheme.settings.name === "set")')).toBe(true);
  const namesNone = (seam: string) =>
    files.filter((path) => path.startsWith(seam)).every((path) => foreignNames(path).length === 0);
  expect(Object.keys(SEAMS).filter(namesNone)).toEqual([]);
});

/** The words of the default scheme that a text has in its code: its header names, and its steps as texts. */
function defaultWordsIn(text: string): string[] {
  const words = [TIMESTAMP_HEADER, EVENT_ID_HEADER, SIGNATURE_HEADER, "incoming/", '"hmac"', '"jwt"'];
  const steps = LISTENER_CHECKS.map(({ step }) => `"${step}"`);
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return [...words, ...steps].filter((word) => code.includes(word));
}

it("the core has no word of a scheme", () => {
  const found = files
    .filter((path) => path.startsWith("src/core/") && path !== SENTENCES)
    .flatMap((path) =>
      defaultWordsIn(readFileSync(new URL(path, root), "utf8")).map((word) => `${path}: ${word}`),
    );
  expect(found).toEqual([]);
  expect(defaultWordsIn('const ROW = { step: "htb_s256", rule: "Webhook-Signature is one" };')).toEqual([
    SIGNATURE_HEADER,
    '"htb_s256"',
  ]);
  expect(defaultWordsIn("/** `Webhook-Signature` */ const row = {};")).toEqual([]);
  expect(defaultWordsIn(readFileSync(new URL(SENTENCES, root), "utf8"))).not.toEqual([]);
});

it("a scheme is three files, next to its door", () => {
  const inside = schemes.flatMap((scheme) =>
    readdirSync(new URL(`${FOLDER}${scheme}/`, root)).map((name) => [scheme, name] as const),
  );
  const more = inside.filter(([, name]) => !FILES.includes(name)).map((parts) => parts.join("/"));
  expect(more.sort()).toEqual(Object.keys(MORE_FILES).sort());
});
