// Rows of mistakes in the request that brings a security event token.
import { shown } from "../../../core/shown.js";
import { SET_TYP } from "../../../schemes/security-event-token/sign.js";
import type { FoundMistake } from "../../rows/mistake.js";

/** What is known of a request and of its receiver. */
export interface TokenRequestFacts {
  /** The values of `Content-Type`; undefined for a token without a request. */
  readonly types: readonly string[] | undefined;
  /** The values of `Content-Encoding`. */
  readonly encodings: readonly string[];
  readonly authorization: string;
  /** The body, which should be the token. */
  readonly text: string;
  /** The token in the body, or in what stands around it. */
  readonly segments: readonly string[];
  /** Why its header or its claims cannot be read. */
  readonly unreadable: string | undefined;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly now: number;
  /** Why the key set does not verify it; undefined if it does, or there is none. */
  readonly refusal: { readonly code: string; readonly detail: string } | undefined;
  /** The document of the key set. */
  readonly jwks: unknown;
}

/**
 * A token within something else: its header begins with a brace, which no host of a URL does. It begins where no such
 * character stands before it, so that it is not tried at every character of a long text.
 */
export const TOKEN = /(?<![\w-])e[wy][\w-]+\.[\w-]+\.[\w-]*/;

/** A body that is a token and nothing else, whatever stands in it. */
export const TOKEN_ALONE = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** The mistakes of a body that has the token in something else, or in another form. */
const BODY_MISTAKES: readonly FoundMistake<TokenRequestFacts>[] = [
  {
    id: "token-in-header",
    title: "Token in a header",
    message: "The token stands in Authorization, and the body has none.",
    fix: "Send the token as the body, and nothing else in it. Authorization is for credentials next to it.",
    find: ({ authorization, text }) => TOKEN.test(authorization) && !TOKEN.test(text),
  },
  {
    id: "body-in-quotes",
    title: "Token in quotes",
    message: "The token stands in quotes, as a JSON text.",
    fix: "Send the token's characters alone, as the body, not JSON.stringify(token).",
    find: ({ text }) => /^\s*["']/.test(text) && TOKEN.test(text),
  },
  {
    id: "body-is-json",
    title: "Token in an object",
    message: "The body is a JSON object with the token in it.",
    fix: "Send the token's characters alone as the body (RFC 8935 section 2.1). Polling (RFC 8936) has objects of tokens.",
    find({ text }) {
      if (!/^\s*\{/.test(text)) return false;
      return TOKEN.test(text) || "The body is a JSON object, and no token: it is not signed.";
    },
  },
  {
    id: "body-is-form",
    title: "Token in a form",
    message: "The body is a form with the token in a field.",
    fix: "Send the token's characters alone as the body, without a name before it.",
    find: ({ text }) => /^[\w-]{1,64}=/.test(text) && TOKEN.test(text),
  },
  {
    id: "body-line-break",
    title: "White space around the token",
    message: "White space or a line break stands around the token.",
    fix: "Take it away: token.trim(). In a shell printf %s, and curl --data-binary @body.json.",
    find: ({ text }) => /^\s|\s$/.test(text) && TOKEN.test(text) && !/^\s*["'{]/.test(text),
  },
  {
    id: "token-encrypted",
    title: "Encrypted token",
    message: "The token has five segments: it is encrypted.",
    fix: "Send it signed and not encrypted; TLS keeps it secret on the way.",
    find: ({ segments }) => segments.length === 5,
  },
];

/** The mistakes of the request that brings a token. */
export const REQUEST_MISTAKES: readonly FoundMistake<TokenRequestFacts>[] = [
  {
    id: "content-type-differs",
    title: "Another content type",
    message: `Content-Type is not application/${SET_TYP}.`,
    fix: `Send Content-Type: application/${SET_TYP} (RFC 8935 section 2.1).`,
    find({ types }) {
      if (types === undefined) return false;
      const right = types.filter((type) => /^\s*application\/secevent\+jwt\s*(?:;|$)/i.test(type));
      if (right.length > 0 && types.length > 1) return "Content-Type stands in more than one line.";
      if (right.length > 0) return false;
      return `Content-Type is ${types.length === 0 ? "missing" : shown(types.join(", "))}, not application/${SET_TYP}.`;
    },
  },
  {
    id: "body-encoded",
    title: "Encoded body",
    message: "The request has Content-Encoding. Receivers take the token as it is.",
    fix: "Leave Content-Encoding out, and switch compression off in the client and in what stands between.",
    find: ({ encodings }) => encodings.length > 0 && `Content-Encoding is ${shown(encodings.join(", "))}.`,
  },
  ...BODY_MISTAKES,
  {
    id: "body-is-no-token",
    title: "No token alone",
    message: "The body is not one token and nothing else.",
    fix: "Send the token's characters alone as the body: three parts in base64url, with periods between them (RFC 8935 section 2.1).",
    find(facts) {
      const text = facts.text.trim();
      if (TOKEN_ALONE.test(text) || BODY_MISTAKES.some((row) => row.find(facts))) return false;
      if (text === "") return "The body is empty.";
      if (/^bearer\s/i.test(text)) return "Bearer stands before the token in the body.";
      if (!/^[\w.+/=-]+$/.test(text)) return "The body has characters that no token has.";
      const parts = text.split(".").length;
      if (parts !== 3)
        return `The body has ${parts} ${parts === 1 ? "part" : "parts"}, and a token has three.`;
      return "The body has characters of standard base64 (+, / or =), and a token is in base64url.";
    },
  },
];
