// Rows of mistakes that a request of HTTP message signatures shows by itself.
import { type Dictionary, Token } from "structured-headers";
import { TIMESTAMP_TOLERANCE_SECONDS } from "../../../core/protocol.js";
import { shown } from "../../../core/shown.js";
import { rawFromDer } from "../../../jwt/sign-token.js";
import { ALGORITHM_NAMES, HMAC_NAME } from "../../../schemes/http-signature/sign.js";
import { isInnerList } from "../../../schemes/http-signature/signature-fields.js";
import type { FoundMistake } from "../../rows/mistake.js";
import { kidsInWords } from "../kids-in-words.js";
import { DIGEST_MISTAKES } from "./digest-mistakes.js";
import type { SignedRequestFacts } from "./facts.js";

const SIGNATURE_FIX =
  'Write Signature: sig1=:<base64>: and Signature-Input: sig1=("@method" …);created=…;keyid="…";alg="…".';
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
      input !== "" &&
      (inputs === undefined || ![...inputs.values()].some(isInnerList)) &&
      `Signature-Input is no list of names in quotes with its parameters.${whatIsMalformed(input)}`,
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
  ...DIGEST_MISTAKES,
  {
    id: "parameters-behind-commas",
    title: "Commas between the parameters",
    message:
      "A comma stands behind the list of Signature-Input: what follows it is another member, and no parameter.",
    fix: `${SIGNATURE_FIX} Before each parameter stands a semicolon.`,
    find: hasParametersAsMembers,
  },
  {
    id: "component-with-parameters",
    title: "A component with parameters",
    message: "A covered component has a parameter, such as ;sf or ;req, which is not agreed on.",
    fix: "Cover the components as they are, without parameters of their own.",
    find({ first }) {
      const [name, parameters] = first?.input[0].find(([, own]) => own.size > 0) ?? [];
      return (
        name !== undefined &&
        `The covered component ${shown(name)} has the parameter ${shown([...(parameters?.keys() ?? [])].join(", "))}.`
      );
    },
  },
  {
    id: "component-twice",
    title: "A component twice",
    message: "A covered component is listed more than once.",
    fix: "List each component once (RFC 9421 section 2.5).",
    find({ first }) {
      const twice = first?.components.find((name, at) => first.components.indexOf(name) < at);
      return twice !== undefined && `The covered component ${shown(twice)} is listed more than once.`;
    },
  },
  {
    id: "tag-differs",
    title: "Another tag",
    message: "No signature has the parameter tag that both sides have agreed on.",
    fix: "Sign with the parameter tag that the receiver expects, letter by letter.",
    find({ first, tag }) {
      if (tag === undefined || first === undefined || first.parameters.tag === tag) return false;
      const own = first.parameters.tag;
      return `tag is ${own === undefined ? "missing" : shown(own)}, and the receiver expects ${shown(tag)}.`;
    },
  },
  {
    id: "created-missing",
    title: "No created",
    message: "The parameter created is missing.",
    fix: CREATED_FIX,
    find: (facts) =>
      facts.first && facts.first.parameters.created === undefined && !hasParametersAsMembers(facts),
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
      if (typeof alg !== "string") return `alg is ${asWritten(alg)}, and no text in quotes.`;
      const own = new Map([...Object.entries(ALGORITHM_NAMES), ["HS256", HMAC_NAME]]).get(alg);
      return `alg is ${shown(alg)}${own === undefined ? "" : `, as JOSE calls it: here it is ${shown(own)}`}.`;
    },
  },
  {
    id: "keyid-missing",
    title: "No keyid",
    message: "The parameter keyid is missing.",
    fix: KEY_FIX,
    find(facts) {
      const { first } = facts;
      const keyid = first?.parameters.keyid;
      if (first === undefined || typeof keyid === "string" || hasParametersAsMembers(facts)) return false;
      return keyid === undefined || `The parameter keyid is ${asWritten(keyid)}, and no text in quotes.`;
    },
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

function hasBytes(dictionary: Dictionary | undefined): boolean {
  return [...(dictionary?.values() ?? [])].some(([value]) => value instanceof ArrayBuffer);
}

/** Whether what stands between two colons is base64url. */
function isBase64url(signature: string): boolean {
  const parts = signature.split(":");
  return parts.some((part, at) => at % 2 === 1 && at < parts.length - 1 && /[-_]/.test(part));
}

/** A value that is no text in quotes, such as a name without them. */
function asWritten(value: unknown): string {
  return value instanceof Token ? shown(value.toString()) : shown(value);
}

/** Whether what should be parameters stands as members of its own. */
function hasParametersAsMembers({ inputs, first }: SignedRequestFacts): boolean {
  return first !== undefined && ["created", "keyid", "alg"].some((name) => inputs?.has(name));
}

/** What can be seen of a Signature-Input that is no dictionary of lists, with a blank before it; empty if nothing. */
function whatIsMalformed(input: string): string {
  if (/\('/.test(input)) return " The names stand in single quotes, and belong in double ones.";
  if (/\([^)]*",\s*"/.test(input)) return " Commas stand between the names.";
  if (/\(\s*[@a-z]/i.test(input)) return " The names have no quotes.";
  if (/^\s*"?\(/.test(input)) return " No label, such as sig1=, stands before the list.";
  const capital = /;\s*([a-z]*[A-Z][A-Za-z]*)=/.exec(input)?.[1];
  if (capital !== undefined) return ` The parameter ${shown(capital)} has capitals.`;
  return /^\s*[\w*.-]+=:/.test(input) ? " It holds what belongs in Signature." : "";
}
