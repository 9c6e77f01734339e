// Rows of what stands in place of a compact token, or around it, and of claims inside of something else.
import { decodeUtf8 } from "../../../core/bytes.js";
import { parseMembers } from "../../../jwt/token.js";
import type { FoundMistake } from "../../rows/mistake.js";
import { decodeAnyBase64, parseHex } from "../../texts/rewrite.js";

const WHOLE = "Send headers.Authorization = 'Bearer ' + token, with the token as the library gives it.";

const COMPACT = /^[\w-]{10,}\.[\w-]{4,}\.[\w-]*$/;

function isHeader(part: string): boolean {
  const members = membersIn(part);
  return members !== undefined && (typeof members.alg === "string" || typeof members.typ === "string");
}

function membersIn(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = decodeAnyBase64(part);
  const members = bytes && parseMembers(bytes);
  return typeof members === "object" ? members : undefined;
}

/** What was sent in place of three parts of base64url; the first that fits says enough. */
export const TOKEN_FORM_MISTAKES: readonly FoundMistake<string>[] = [
  {
    id: "token-placeholder",
    title: "A placeholder in place of the token",
    message: "The name of a variable stands where its value belongs: it was never put in.",
    fix: "Put the token in: 'Bearer ' + token in JavaScript, f'Bearer {token}' in Python, double quotes in a shell.",
    find: (token) =>
      /^(?:\$\{?\w+\}?|\{\{?[\w. ]+\}?\}|<[\w -]{2,30}>|%\w+%|%s|#\{\w+\}|your[-_ ]?\w{0,30}token\w{0,30})$/i.test(
        token,
      ),
  },
  {
    id: "token-is-a-key",
    title: "A key in place of the token",
    message:
      "A key in PEM stands where the token belongs. If it was a private one, everybody on the way has it.",
    fix: "Make a new key, and sign the token with it: jwtSigner({ key, kid, alg }).",
    find: (token) => token.includes("-----BEGIN"),
  },
  {
    id: "token-encrypted",
    title: "An encrypted token",
    message: "The token has five parts: it is encrypted (JWE) and not signed (JWS).",
    fix: "Sign it: in jose SignJWT and not EncryptJWT. TLS keeps it secret on the way.",
    find: (token) => /^[\w-]+\.[\w-]*(?:\.[\w-]+){3}$/.test(token) && isHeader(token.split(".")[0] ?? ""),
  },
  {
    id: "token-as-json",
    title: "A token as JSON",
    message: "The token is an object of JSON, or stands in one. It must be the three parts with periods.",
    fix: "Send the compact form: in jose CompactSign or SignJWT, not FlattenedSign or GeneralSign; of a token server's answer the member alone.",
    find: (token) => /^\{.*"/s.test(token) || /^\{.*"(?:payload|signatures?|token)"/s.test(inside(token)),
  },
  {
    id: "token-encoded-twice",
    title: "The whole token encoded once more",
    message: "The token is right inside of one more layer of base64 or hex.",
    fix: WHOLE,
    find: (token) => COMPACT.test(inside(token).trim()),
  },
  {
    id: "token-detached",
    title: "A token without its claims",
    message: "The second part of the token is empty: it is detached. The claims must be in the token.",
    fix: "Sign the claims as the payload: in jose SignJWT, without b64: false and without a detached payload.",
    find: (token) => /^[\w-]+\.\.[\w-]+$/.test(token) && isHeader(token.split(".")[0] ?? ""),
  },
  {
    id: "token-signature-missing",
    title: "No signature in the token",
    message: "The token has no third part: it is not signed, or was cut there.",
    fix: "Let a JWT library make the whole token, or jwtSigner({ key, kid, alg }).",
    find(token) {
      const [header = "", claims = "", third] = token.split(".");
      return third === undefined && isHeader(header) && membersIn(claims) !== undefined;
    },
  },
  {
    id: "token-cut",
    title: "A part of the token",
    message: "The token is cut: it begins or ends as a token does, and the rest is missing.",
    fix: "Send the whole token: look for a column, a variable or a log that cuts it, and compare its length where it was made.",
    find(token) {
      const parts = token.split(".");
      const [header = ""] = parts;
      const isBegun = /^eyJ[\w-]*$/.test(header) && parts.length < 3;
      const isDotted = /^eyJ[\w-]+(?:\.[\w-]*)*(?:\.{3}|\u2026)$/.test(token);
      const isHeadLost =
        parts.length === 3 && !isHeader(header) && ["e", "ey", "eyJ"].some((lost) => isHeader(lost + header));
      // One character too few: no bytes have so many.
      const isOdd = parts.length === 3 && isHeader(header) && (parts[2] ?? "").length % 4 === 1;
      return isBegun || isDotted || isHeadLost || isOdd;
    },
  },
  {
    id: "token-parts-swapped",
    title: "The token's parts in another order",
    message: "The first part of the token holds the claims, and the second the header.",
    fix: "Write base64url(header) + '.' + base64url(claims) + '.' + base64url(signature).",
    find(token) {
      const [first, second] = token.split(".").map(membersIn);
      return (
        token.split(".").length === 3 &&
        second?.alg !== undefined &&
        first !== undefined &&
        first.alg === undefined
      );
    },
  },
  {
    id: "token-not-encoded",
    title: "The token's parts in another encoding",
    message: "The parts of the token are plain JSON or hex. They must be base64url.",
    fix: "Encode each part: Buffer.from(part).toString('base64url').",
    find(token) {
      const [header = ""] = token.split(".");
      return /^\{"/.test(token) || /^7b22(?:[0-9a-f]{2})+$/i.test(header);
    },
  },
  {
    id: "token-other-case",
    title: "The token in one case",
    message: "All letters of the token are small, or all are capitals: something has changed their case.",
    fix: `${WHOLE} Change the case of names of headers alone, never of their values.`,
    find: (token) =>
      token.length > 100 &&
      token.split(".").length === 3 &&
      /^(?:[a-z0-9_.-]+|[A-Z0-9_.-]+)$/.test(token) &&
      !isHeader(token.split(".")[0] ?? ""),
  },
];

/** The text inside of base64 or hex; empty if there is none. */
function inside(token: string): string {
  if (token.length > 20_000 || token.length < 40 || token.includes(".")) return "";
  return decodeUtf8(parseHex(token) ?? decodeAnyBase64(token) ?? new Uint8Array()) ?? "";
}

/** What is seen of a token's claims as a whole. */
interface WholeClaims {
  /** The claims, if they are an object. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
  readonly body: string | undefined;
}

const NAMES = ["sub", "aud", "jti", "htm", "htb_s256"];

function hasNames(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    NAMES.filter((name) => Object.hasOwn(value, name)).length > 2
  );
}

/** Claims that are right inside of something else. */
export const WHOLE_CLAIMS_MISTAKES: readonly FoundMistake<WholeClaims>[] = [
  {
    id: "token-claims-wrapped",
    title: "Claims inside of another member",
    message: "The claims are inside of a member of their own. They must be the token's own members.",
    fix: "Hand over the claims themselves: sign(claims), not sign({ payload: claims }).",
    find({ members }) {
      if (members === undefined || hasNames(members)) return false;
      const name = Object.keys(members).find((one) => hasNames(members[one]));
      return name !== undefined && /^\w{1,30}$/.test(name)
        ? `${this.message} The member is ${name}.`
        : name !== undefined;
    },
  },
  {
    id: "token-claims-encoded-twice",
    title: "Claims encoded twice",
    message: "The claims are a text of JSON that was serialised or encoded once more.",
    fix: "Hand the library an object and not its text: sign(claims), not sign(JSON.stringify(claims)).",
    find({ members, text }) {
      if (members !== undefined) return false;
      const plain = /^"(?:[^"\\]|\\.)*"$/s.test(text)
        ? textOf(text)
        : (decodeUtf8(decodeAnyBase64(text) ?? new Uint8Array()) ?? "");
      return hasNames(jsonOf(plain));
    },
  },
  {
    id: "token-claims-are-body",
    title: "The body in place of the claims",
    message:
      "The token's claims are the request's body. The body is sent as the body, and the token has its hash.",
    fix: "Sign sub, aud, exp, jti, htm and htb_s256: jwtSigner({ key, kid, alg }).",
    find: ({ text, body, members }) => text.length > 2 && text === body && !hasNames(members),
  },
];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(text: string): string {
  return String(jsonOf(text) ?? "");
}
