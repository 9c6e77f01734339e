// Rows of mistakes that a request of HTTP message signatures shows by itself.
import type { Dictionary, InnerList } from "structured-headers";
import { digestOf } from "#hash";
import { decodeBase64, decodeBase64url, decodeUtf8, encodeBase64, utf8 } from "../../../core/bytes.js";
import type { ReceivedHeaders } from "../../../core/headers.js";
import { rewrittenJson } from "../../../core/json.js";
import { TIMESTAMP_TOLERANCE_SECONDS } from "../../../core/protocol.js";
import { countOf, shown } from "../../../core/shown.js";
import { rawFromDer } from "../../../jwt/sign-token.js";
import { ALGORITHM_NAMES, HMAC_NAME } from "../../../schemes/http-signature/sign.js";
import { isInnerList } from "../../../schemes/http-signature/signature-fields.js";
import { signedBodies, workBudget } from "../../diagnose/search.js";
import type { FoundMistake } from "../../rows/mistake.js";
import { firstMatch } from "../../rows/run.js";
import { kidsInWords } from "../kids-in-words.js";

/** One signature of a request. */
export interface Signature {
  readonly components: readonly string[];
  readonly input: InnerList;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What is known of a request and of its receiver. */
export interface SignedRequestFacts {
  readonly headers: ReceivedHeaders;
  readonly body: Uint8Array;
  /** The values of the headers, joined. */
  readonly input: string;
  readonly signature: string;
  readonly digest: string;
  /** What can be read of the two headers. */
  readonly inputs: Dictionary | undefined;
  readonly signatures: Dictionary | undefined;
  /** The first signature with its input. */
  readonly first: Signature | undefined;
  readonly covered: readonly string[];
  readonly now: number;
  /** Why no key was found for it; undefined if one was, or nothing could be looked up. */
  readonly keyProblem: { readonly kind: "unknown" | "other-kind"; readonly detail?: string } | undefined;
  /** The document of the key set. */
  readonly jwks: unknown;
}

const SIGNATURE_FIX =
  'Write Signature: sig1=:<base64>: and Signature-Input: sig1=("@method" …);created=…;keyid="…";alg="…".';
const DIGEST_FIX = "Write Content-Digest: sha-256=:<base64 of the SHA-256 of the body's bytes>: (RFC 9530).";
const CREATED_FIX = "Set created to whole Unix seconds at every attempt: Math.floor(Date.now() / 1000).";
const KEY_FIX = `Name the key by keyid, and its algorithm by alg: ${Object.values(ALGORITHM_NAMES).join(", ")} or ${HMAC_NAME}.`;
/** The names of all algorithms. */
export const ALGORITHM_TEXTS: readonly string[] = [...Object.values(ALGORITHM_NAMES), HMAC_NAME];

/** The mistakes that a request shows by itself, in their order. */
export const REQUEST_MISTAKES: readonly FoundMistake<SignedRequestFacts>[] = [
  {
    id: "draft-cavage",
    title: "The draft before the RFC",
    message: 'The signature is by an old draft (keyId="…",headers="…"), not by RFC 9421.',
    fix: `Sign by RFC 9421, which has two headers. ${SIGNATURE_FIX}`,
    find: ({ signature, headers }) =>
      /(?:keyId|algorithm|headers)="/.test(`${signature} ${headers.all("Authorization").join(" ")}`),
  },
  {
    id: "header-twice",
    title: "Header line twice",
    message: "Signature, Signature-Input or Content-Digest stands in more than one line.",
    fix: "Send each of them once; several signatures are members of one line, with labels of their own.",
    find({ headers }) {
      const names = ["Signature", "Signature-Input", "Content-Digest"];
      const twice = names.find((name) => headers.all(name).length > 1);
      return twice && `${twice} stands in more than one line.`;
    },
  },
  {
    id: "signature-input-missing",
    title: "No Signature-Input",
    message: "Signature is there, and Signature-Input is not: nobody knows what was signed.",
    fix: SIGNATURE_FIX,
    find: ({ signature, input }) => signature !== "" && input === "" && !/keyId="/.test(signature),
  },
  {
    id: "signature-missing",
    title: "No Signature",
    message: "Signature-Input is there, and Signature is not.",
    fix: SIGNATURE_FIX,
    find: ({ signature, input, headers }) =>
      signature === "" &&
      !/keyId="/.test(headers.all("Authorization").join(" ")) &&
      (input !== "" || "The request has neither Signature nor Signature-Input: it is not signed."),
  },
  {
    id: "signature-input-malformed",
    title: "Signature-Input cannot be read",
    message: "Signature-Input is no list of names in quotes with its parameters.",
    fix: `${SIGNATURE_FIX} Between the names stands a blank and no comma.`,
    find: ({ input, inputs }) =>
      input !== "" && (inputs === undefined || ![...inputs.values()].some(isInnerList)) && true,
  },
  {
    id: "signature-not-in-colons",
    title: "Signature without colons",
    message: "The value of Signature has no base64 between two colons.",
    fix: SIGNATURE_FIX,
    find: ({ signature, signatures, input }) =>
      input !== "" && signature !== "" && !hasBytes(signatures) && !isBase64url(signature),
  },
  {
    id: "signature-in-base64url",
    title: "Signature in base64url",
    message: "The signature is written in base64url.",
    fix: "Write it in standard base64, with + and / and its padding.",
    find: ({ signature }) => isBase64url(signature),
  },
  {
    id: "label-differs",
    title: "Other labels",
    message: "Signature-Input and Signature have no label in common.",
    fix: "Use one label, such as sig1, in Signature-Input and in Signature.",
    find({ inputs, signatures, first }) {
      if (!inputs?.size || !hasBytes(signatures) || first !== undefined) return false;
      const [labels, others] = [[...inputs.keys()], [...(signatures?.keys() ?? [])]];
      if (labels.some((label) => others.includes(label))) return false;
      return `Signature-Input has the label ${shown(labels.join(", "))}, and Signature ${shown(others.join(", "))}.`;
    },
  },
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
      (covered.includes("content-digest") || first?.components.includes("content-digest")),
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
    find({ digest }) {
      if (/=:(?:[0-9a-f]{64}|[0-9a-f]{128}):/i.test(digest)) return false;
      const [, name, text = ""] = /(sha-(?:256|512))=:([A-Za-z0-9+/]+=*):/.exec(digest) ?? [];
      const bytes = name === undefined ? undefined : decodeBase64(text);
      if (bytes === undefined || bytes.length === (name === "sha-256" ? 32 : 64)) return false;
      return `The digest has ${countOf(bytes.length, "byte")}, and ${name} has ${name === "sha-256" ? 32 : 64}: it is another hash, or a text of it was encoded once more.`;
    },
  },
  {
    id: "digest-of-other-body",
    title: "Digest of another body",
    message: "Content-Digest is that of another body.",
    fix: "Make the digest over the bytes that are sent; let nothing between write the body again or compress it.",
    find: digestOfOtherBody,
  },
  {
    id: "created-missing",
    title: "No created",
    message: "The parameter created is missing.",
    fix: CREATED_FIX,
    find: ({ first }) => first && first.parameters.created === undefined,
  },
  {
    id: "created-not-a-number",
    title: "created is no number",
    message: "The parameter created is a text, and no number.",
    fix: `${CREATED_FIX} It has no quotes.`,
    find: ({ first }) =>
      first && first.parameters.created !== undefined && typeof first.parameters.created !== "number",
  },
  {
    id: "created-with-decimals",
    title: "created with decimals",
    message: "The parameter created has decimals. It must be in whole seconds.",
    fix: CREATED_FIX,
    find: ({ first }) =>
      typeof first?.parameters.created === "number" && !Number.isInteger(first.parameters.created),
  },
  {
    id: "expires-not-a-number",
    title: "expires is no number",
    message: "The parameter expires is not a number of whole seconds.",
    fix: "Set expires some minutes after created, in Unix seconds and without quotes, or leave it out.",
    find: ({ first }) =>
      first?.parameters.expires !== undefined && !Number.isInteger(first.parameters.expires),
  },
  {
    id: "created-in-milliseconds",
    title: "created in milliseconds",
    message: "The parameter created is in milliseconds.",
    fix: CREATED_FIX,
    find: ({ first }) => typeof first?.parameters.created === "number" && first.parameters.created > 1e11,
  },
  {
    id: "created-too-old",
    title: "created is old",
    message: "created is further in the past than the receiver allows.",
    fix: `${CREATED_FIX} A queue must sign when it sends.`,
    find({ first, now }) {
      const created = first?.parameters.created;
      if (typeof created !== "number" || created >= now - TIMESTAMP_TOLERANCE_SECONDS) return false;
      return `created is ${now - created} s in the past.`;
    },
  },
  {
    id: "created-in-future",
    title: "created is ahead",
    message: "created is ahead of the receiver's clock.",
    fix: "Set the sender's clock by NTP.",
    find({ first, now }) {
      const created = first?.parameters.created;
      if (typeof created !== "number" || created <= now + TIMESTAMP_TOLERANCE_SECONDS || created > 1e11)
        return false;
      return `created is ${created - now} s ahead of the receiver's clock.`;
    },
  },
  {
    id: "expires-over",
    title: "expires is over",
    message: "The time of the parameter expires is over.",
    fix: "Set expires some minutes after created, in Unix seconds, or leave it out.",
    find({ first, now }) {
      const expires = first?.parameters.expires;
      return typeof expires === "number" && expires <= now && `expires was ${now - expires} s ago.`;
    },
  },
  {
    id: "component-in-capitals",
    title: "Component in capitals",
    message: "The name of a covered component has capitals.",
    fix: 'Write the names of covered headers in small letters: "content-type".',
    find({ first }) {
      const name = first?.components.find((one) => one !== one.toLowerCase());
      return name && `The covered component ${shown(name)} has capitals.`;
    },
  },
  {
    id: "components-missing",
    title: "Not all is covered",
    message: "The signature does not cover all that both sides have agreed on.",
    fix: "Cover everything that both sides have agreed on, the body by content-digest.",
    find({ first, covered }) {
      const names = new Set(first?.components.map((name) => name.toLowerCase()));
      const missing = covered.filter((name) => !names.has(name));
      return first && missing.length > 0 && `The signature does not cover ${missing.join(", ")}.`;
    },
  },
  {
    id: "covers-what-is-not-there",
    title: "Covers what the request does not have",
    message: "The signature covers a header that the request does not have.",
    fix: "Cover headers that are sent and reach the receiver; proxies remove some, such as Connection.",
    find({ first, headers }) {
      const absent = first?.components.find(
        (name) => !/^@|^content-digest$/.test(name) && headers.all(name).length === 0,
      );
      return absent && `The signature covers ${shown(absent)}, which the request does not have.`;
    },
  },
  {
    id: "alg-unknown",
    title: "Another algorithm",
    message: "alg names an algorithm that the receiver does not know.",
    fix: KEY_FIX,
    find({ first }) {
      const alg = first?.parameters.alg;
      // Without alg the key's own decides.
      if (alg === undefined || (typeof alg === "string" && ALGORITHM_TEXTS.includes(alg))) return false;
      return `alg is ${shown(alg)}.`;
    },
  },
  {
    id: "keyid-missing",
    title: "No keyid",
    message: "The parameter keyid is missing.",
    fix: KEY_FIX,
    find: ({ first }) => first && typeof first.parameters.keyid !== "string",
  },
  {
    id: "keyid-unknown",
    title: "keyid unknown",
    message: "The receiver has no key of the name that keyid gives.",
    fix: "Give the receiver the key under this name, or sign with the name that it knows.",
    find({ first, keyProblem, jwks }) {
      const keyid = first?.parameters.keyid;
      if (keyProblem?.kind !== "unknown") return false;
      if (keyProblem.detail === undefined) return `The receiver has no key named ${shown(keyid)}.`;
      return `The receiver has no usable key named ${shown(keyid)}: ${keyProblem.detail}.${kidsInWords(jwks, keyid)}`;
    },
  },
  {
    id: "key-of-other-kind",
    title: "Key of another kind",
    message: "The receiver's key of this name is not for the algorithm of alg.",
    fix: KEY_FIX,
    find: ({ first, keyProblem }) =>
      keyProblem?.kind === "other-kind" &&
      `The receiver's key ${shown(first?.parameters.keyid)} is not for alg ${shown(first?.parameters.alg)}.`,
  },
  {
    id: "signature-in-der",
    title: "Signature in DER",
    message: "The signature is DER, as OpenSSL writes it, and not the 64 bytes of ecdsa-p256-sha256.",
    fix: "Write r and s as 32 bytes each: in Node sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }).",
    find: ({ first }) =>
      (first?.parameters.alg === ALGORITHM_NAMES.ES256 || first?.parameters.alg === undefined) &&
      first !== undefined &&
      rawFromDer(first.bytes).length === 64,
  },
];

function digestOfOtherBody({ digest, body }: SignedRequestFacts): string | boolean {
  const short = /sha-256=:([A-Za-z0-9+/]{43}=):/.exec(digest)?.[1];
  const given = short ?? /sha-512=:([A-Za-z0-9+/]{86}==):/.exec(digest)?.[1];
  const of = (bytes: Uint8Array) => base64(digestOf(short === undefined ? "sha512" : "sha256", [bytes]));
  if (given === undefined || given === of(body)) return false;
  if (given === of(new Uint8Array())) return "Content-Digest is that of an empty body.";
  const text = decodeUtf8(body) ?? "";
  const line = [`${text}\n`, text.trimEnd()].some((one) => given === of(utf8(one)));
  if (line) return "Content-Digest is that of the body with a line break more or less at its end.";
  const rewritten = [undefined, 2].some((space) => given === of(utf8(rewrittenJson(text, space) ?? "")));
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

function hasBytes(dictionary: Dictionary | undefined): boolean {
  return [...(dictionary?.values() ?? [])].some(([value]) => value instanceof ArrayBuffer);
}

/** Whether what stands between two colons is base64url. */
function isBase64url(signature: string): boolean {
  const parts = signature.split(":");
  return parts.some((part, at) => at % 2 === 1 && at < parts.length - 1 && /[-_]/.test(part));
}

function base64(digest: string): string {
  return encodeBase64(decodeBase64url(digest) ?? new Uint8Array());
}
