// Rows of how a signature of Standard Webhooks is written wrongly, and reads it in any of these ways.
import type { HashName } from "../../../core/hash-portable.js";
import { lossyForm, readDigest } from "../../diagnose/digest-text.js";
import { SIGNATURE_FORMS, type SignatureForm } from "../../diagnose/mistakes/signature.js";
import { type MistakeRow, withDetail } from "../../rows/mistake.js";
import { BASE64 } from "./mistakes.js";

const ROWS = {
  version: {
    id: "version-missing",
    title: "Version missing",
    message: "The signature is right, and v1, does not stand before it.",
    fix: BASE64,
  },
  otherVersion: {
    id: "version-differs",
    title: "Another version",
    message: "The signature is right, and another version than v1 stands before it.",
    fix: BASE64,
  },
  separator: {
    id: "separator-differs",
    title: "Another separator behind the version",
    message: "The signature is right, and v1 is not followed by a comma.",
    fix: BASE64,
  },
  space: {
    id: "space-behind-version",
    title: "A space behind the version",
    message: "The signature is right, and a space stands between v1, and it: a space separates signatures.",
    fix: BASE64,
  },
  joined: {
    id: "signatures-joined-otherwise",
    title: "Signatures joined otherwise",
    message: "The signature is right, and something else than a space stands between it and its neighbours.",
    fix: "Separate several signatures by a space: 'v1,' + first + ' v1,' + second. The time has a header of its own.",
  },
  hex: {
    id: "signature-in-hex",
    title: "Signature in hex",
    message: "The digest is right and written in hexadecimal.",
    fix: BASE64,
  },
  base64url: {
    id: "signature-in-base64url",
    title: "Signature in base64url",
    message: "The digest is right and written in base64url, or without its padding.",
    fix: BASE64,
  },
  quoted: {
    id: "signature-quoted",
    title: "Something around the signature",
    message: "The signature is right, and quotes, brackets or white space stand around it.",
    fix: BASE64,
  },
  twice: {
    id: "signature-encoded-twice",
    title: "Signature encoded twice",
    message: "The digest is right, and a text of it was encoded once more.",
    fix: `${BASE64} In PHP base64_encode(hash_hmac('sha256', $text, $key, true)): the last argument gives bytes.`,
  },
  hash: {
    id: "signature-other-hash",
    title: "Another hash",
    message: "The signature is an HMAC with another hash than SHA-256.",
    fix: "Use HMAC-SHA256: createHmac('sha256', key).",
  },
  otherForm: {
    id: "signature-in-other-form",
    title: "Signature in another form",
    message: "The digest is right and written in another way than base64.",
    fix: BASE64,
  },
  damaged: {
    id: "signature-damaged",
    title: "Signature damaged",
    message: "The signature was right, and has lost what cannot be brought back.",
    fix: BASE64,
  },
} satisfies Record<string, MistakeRow>;

/** Every mistake in how the signature is written. */
export const FORM_MISTAKES: readonly MistakeRow[] = Object.values(ROWS);

/** One signature as it was read from the header. */
interface ReadSignature {
  readonly hash: HashName;
  /** In hex. */
  readonly digest: string;
  /** How it is written wrongly; none for v1, and base64. */
  readonly mistakes: readonly MistakeRow[];
}

const MAX = 16;

/** The signatures of a header in any of the ways that people write them. */
export function readSignatures(list: string): readonly ReadSignature[] {
  if (list.length > MAX_LENGTH) return [];
  const bytes = /^b(['"])(v1,.*)\1$/s.exec(list)?.[2];
  if (bytes !== undefined)
    return readSignatures(bytes).map((read) => ({ ...read, mistakes: [ROWS_OF_BYTES, ...read.mistakes] }));
  const spaced = /^(v1,) {1,4}(\S+)$/.exec(list);
  if (spaced)
    return readOne(`${spaced[1]}${spaced[2]}`).map((read) => ({
      ...read,
      mistakes: [ROWS.space, ...read.mistakes],
    }));
  const listed = list.startsWith("t=") ? [] : list.split(" ", MAX).flatMap((part) => readOne(part));
  // What separates others is looked for where spaces do not separate, or separate more.
  const others = /[,;]\s*(?:v\d|t=)|^t=|^["'[{(]/.test(list)
    ? list
        .split(/[\s;[\]{}()"']+|,(?=\s*(?:v\d+a?[,=:]|t=))/, MAX)
        .filter((part) => /^v\d/.test(part))
        .flatMap((part) => readOne(part))
        .map((read) => ({ ...read, mistakes: [ROWS.joined, ...read.mistakes] }))
    : [];
  const whole = list.includes(" ") && listed.length === 0 ? readOne(list) : [];
  return [...listed, ...others, ...whole];
}

const MAX_LENGTH = 2_048;

const ROWS_OF_BYTES = withDetail(ROWS.otherForm, `${SIGNATURE_FORMS.pythonBytes.title}.`);

/**
 * The version before a digest, what stands between the two, and the digest. A digest may itself begin with "v" and digits, or
 * with digits behind a version that nothing separates; its length tells which they are.
 */
function versioned(text: string): readonly [version: string | undefined, separator: string, rest: string] {
  if (isDigest(text)) return [undefined, "", text];
  const joined = /^(v\d)(.*)$/is.exec(text);
  if (joined?.[1] !== undefined && joined[2] !== undefined && isDigest(joined[2]))
    return [joined[1], "", joined[2]];
  const [, version, separator = "", rest = ""] = /^(v\d+a?)(%2C|[,=:;.|-]?)(.*)$/is.exec(text) ?? [];
  return [version, separator, rest];
}

/** Of MD5, SHA-1, SHA-256, SHA-384 and SHA-512 in base64 without padding. */
const DIGEST_LENGTHS: ReadonlySet<number> = new Set([22, 27, 43, 64, 86]);

function isDigest(text: string): boolean {
  const [, digest = ""] = /^([\w+/-]{22,86})={0,2}["'>\])]?$/.exec(text) ?? [];
  return DIGEST_LENGTHS.has(digest.length);
}

function readOne(part: string): readonly ReadSignature[] {
  const bare = part.replace(/^["'<[(]+/, "");
  const [version, separator, rest] = versioned(bare);
  const text = version === undefined ? part : rest;
  const read = readDigest(text);
  if (read === undefined) return [];
  // What v1a has is a key's signature, but for a digest that stands behind the wrong version.
  if (version?.endsWith("a") && read.hash !== "sha256") return [];
  const mistakes: MistakeRow[] = [];
  if (version === undefined) mistakes.push(ROWS.version);
  else if (version !== "v1") mistakes.push(ROWS.otherVersion);
  else if (separator !== ",") mistakes.push(ROWS.separator);
  if (bare !== part) mistakes.push(ROWS.quoted);
  const isRight = /^[A-Za-z0-9+/]{43}=$/.test(text);
  if (!isRight) mistakes.push(...ofForms(read.forms, text));
  // A name such as sha256= before it stands in place of the version.
  const named = mistakes.some((row) => row === ROWS.hex)
    ? mistakes.filter((row) => row !== ROWS.version)
    : mistakes;
  return [{ hash: read.hash, digest: read.digest, mistakes: [...new Set(named)] }];
}

function ofForms(forms: readonly SignatureForm[], text: string): readonly MistakeRow[] {
  const rows = forms.flatMap((form): readonly MistakeRow[] => {
    if (form === "hex") return [ROWS.hex];
    if (form === "several" || (form === "prefixed" && /[,;]/.test(text))) return [ROWS.joined];
    if (form === "prefixed" && forms.includes("hex")) return [];
    if (form === "quoted") return [ROWS.quoted];
    if (form === "encodedTwice" || form === "base64OfHex") return [ROWS.twice];
    if (/^(?:sha1|sha384|sha512|md5)$/.test(form))
      return [withDetail(ROWS.hash, `It is ${form.replace("sha", "SHA-").replace("md", "MD")}.`)];
    if (/^(?:base64|padded)$/.test(form)) return [];
    return [withDetail(ROWS.otherForm, `${SIGNATURE_FORMS[form].title}.`)];
  });
  const bare = text.replace(/^["']|["']$/g, "");
  const isUrl = /^(?:[\w-]{43}=?|[\w+/-]{43})$/.test(bare) && !/^[A-Za-z0-9+/]{43}=$/.test(bare);
  return isUrl ? [ROWS.base64url, ...rows] : rows;
}

/** What was done to the right signature that cannot be undone. */
export function damaged(list: string, digest: Uint8Array): MistakeRow | undefined {
  const form = lossyForm(list, digest);
  return form && withDetail(ROWS.damaged, `${form.title}.`);
}
