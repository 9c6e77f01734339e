// Rows of Content-Digest: its name, how the digest is written, and which body it is of.
import { digestOf } from "#hash";
import { decodeBase64, decodeBase64url, decodeUtf8, encodeBase64, utf8 } from "../../../core/bytes.js";
import type { HashName } from "../../../core/hash-portable.js";
import type { ReceivedHeaders } from "../../../core/headers.js";
import { countOf, shown } from "../../../core/shown.js";
import { signedBodies, workBudget } from "../../diagnose/search.js";
import type { FoundMistake } from "../../rows/mistake.js";
import { firstMatch } from "../../rows/run.js";
import { writtenAgain } from "../../texts/line-breaks.js";
import { hexOf, latin1Text } from "../../texts/rewrite.js";
import type { SignedRequestFacts } from "./facts.js";

const DIGEST_FIX = "Write Content-Digest: sha-256=:<base64 of the SHA-256 of the body's bytes>: (RFC 9530).";

/** The mistakes of the body's digest. */
export const DIGEST_MISTAKES: readonly FoundMistake<SignedRequestFacts>[] = [
  {
    id: "digest-header-old",
    title: "Digest in place of Content-Digest",
    message: "The request has the old header Digest (RFC 3230), and no Content-Digest.",
    fix: DIGEST_FIX,
    find: ({ headers, digest }) => digest === "" && headers.all("Digest").length > 0,
  },
  {
    id: "digest-missing",
    title: "No Content-Digest",
    message: "The body is to be covered by its digest, and the request has no Content-Digest.",
    fix: DIGEST_FIX,
    find: ({ headers, digest, covered, first }) =>
      digest === "" &&
      headers.all("Digest").length === 0 &&
      (covered.includes("content-digest") || first?.components.includes("content-digest")) &&
      `The body is to be covered by its digest, and the request has no Content-Digest.${otherDigest(headers)}`,
  },
  {
    id: "digest-malformed",
    title: "Content-Digest cannot be read",
    message: "Content-Digest is no list of names, each with = and base64 between two colons.",
    fix: DIGEST_FIX,
    find: ({ digest }) => digest !== "" && !/^\s*[\w-]+=/.test(digest),
  },
  {
    id: "digest-in-base64url",
    title: "Digest in base64url",
    message: "The digest is written in base64url, or without its padding.",
    fix: `${DIGEST_FIX} Standard base64 has + and / and ends with =.`,
    find: ({ digest }) =>
      /=:(?:[\w-]{43}|[\w-]{86}):/.test(digest) || /=:[A-Za-z0-9+/]*[-_][\w-]*=*:/.test(digest),
  },
  {
    id: "digest-not-in-colons",
    title: "Digest without colons",
    message: "The value of Content-Digest has no base64 between two colons.",
    fix: DIGEST_FIX,
    find: ({ digest }) => /^\s*[\w-]+=[^:]/.test(digest),
  },
  {
    id: "digest-name-differs",
    title: "Another name of the digest's algorithm",
    message: "Content-Digest names an algorithm that is neither sha-256 nor sha-512.",
    fix: DIGEST_FIX,
    find({ digest }) {
      const name = /^\s*([\w-]+)=:/.exec(digest)?.[1];
      if (name === undefined || name === "sha-256" || name === "sha-512") return false;
      return `Content-Digest names ${shown(name)}, and the names are sha-256 and sha-512.`;
    },
  },
  {
    id: "digest-in-hex",
    title: "Digest in hex",
    message: "The digest is written in hexadecimal.",
    fix: DIGEST_FIX,
    find: ({ digest }) => /=:(?:[0-9a-f]{64}|[0-9a-f]{128}):/i.test(digest),
  },
  {
    id: "digest-of-other-length",
    title: "A digest of another length",
    message: "The digest has not the length of its algorithm: 32 bytes for sha-256, 64 for sha-512.",
    fix: `${DIGEST_FIX} Encode the hash's bytes once, and not its hex.`,
    find({ digest, body }) {
      if (/=:(?:[0-9a-f]{64}|[0-9a-f]{128}):/i.test(digest)) return false;
      const [, name, text = ""] = /(sha-(?:256|512))=:([A-Za-z0-9+/]+=*):/.exec(digest) ?? [];
      const bytes = name === undefined ? undefined : decodeBase64(text);
      if (bytes === undefined || bytes.length === (name === "sha-256" ? 32 : 64)) return false;
      const seen = `The digest has ${countOf(bytes.length, "byte")}, and ${name} has ${name === "sha-256" ? 32 : 64}`;
      const is = whatItIs(bytes, body);
      return `${seen}: ${is === undefined ? "it is another hash, or a text of it was encoded once more" : `it is ${is} of the body`}.`;
    },
  },
  {
    id: "digest-of-other-body",
    title: "Digest of another body",
    message: "Content-Digest is that of another body.",
    fix: "Make the digest over the bytes that are sent; let nothing between write the body again or compress it.",
    find: digestOfOtherBody,
  },
];

/** Headers that stand for the body elsewhere. */
function otherDigest(headers: ReceivedHeaders): string {
  const other = ["Repr-Digest", "Content-MD5"].find((name) => headers.all(name).length > 0);
  return other === undefined ? "" : ` It has ${other}, which is another header.`;
}

/** Which hash of the body these bytes are, or a text of which. */
function whatItIs(bytes: Uint8Array, body: Uint8Array): string | undefined {
  const made = (hash: HashName) => decodeBase64url(digestOf(hash, [body])) ?? new Uint8Array();
  const given = latin1Text(bytes);
  for (const hash of HASHES) {
    const name = hash === "md5" ? "MD5" : hash.replace("sha", "SHA-");
    const digest = made(hash);
    if (given === latin1Text(digest)) return `the ${name}`;
    if (given.toLowerCase() === hexOf(digest)) return `the hex of the ${name}, encoded as base64,`;
    if (given === encodeBase64(digest)) return `the ${name}, encoded as base64 twice,`;
  }
  return undefined;
}

const HASHES: readonly HashName[] = ["sha256", "sha512", "sha384", "sha1", "md5"];

function digestOfOtherBody({ digest, body }: SignedRequestFacts): string | boolean {
  const short = /sha-256=:([A-Za-z0-9+/]{43}=):/.exec(digest)?.[1];
  const given = short ?? /sha-512=:([A-Za-z0-9+/]{86}==):/.exec(digest)?.[1];
  const of = (bytes: Uint8Array) => base64(digestOf(short === undefined ? "sha512" : "sha256", [bytes]));
  if (given === undefined || given === of(body)) return false;
  if (given === of(new Uint8Array())) return "Content-Digest is that of an empty body.";
  const text = decodeUtf8(body) ?? "";
  const line = [`${text}\n`, text.trimEnd()].some((one) => given === of(utf8(one)));
  if (line) return "Content-Digest is that of the body with a line break more or less at its end.";
  const rewritten = [undefined, 2].some((space) => given === of(utf8(writtenAgain(text, space) ?? "")));
  if (rewritten) return "Content-Digest is that of the same JSON written again: other bytes were sent.";
  const budget = workBudget(body.length);
  const rows = firstMatch(
    signedBodies(body, budget),
    { above: 0, upTo: 7, budget },
    ({ serialising, encoding }) => {
      const made = encoding.repeat(serialising.repeat());
      if (made !== undefined) budget.spend(made.length);
      return made !== undefined && given === of(made);
    },
  );
  return (
    rows === undefined ||
    `Content-Digest is that of the body in another form: ${rows.map(({ title }) => title).join(", ")}.`
  );
}

function base64(digest: string): string {
  return encodeBase64(decodeBase64url(digest) ?? new Uint8Array());
}
