// Tries a secret on a request within the page: it goes nowhere else.

/** What came of it: by which form of the secret the signature matches, and the secret's fingerprint. */
export interface Tried {
  /** The beginning of the SHA-256 of its text, as everywhere else. */
  readonly fingerprint: string;
  /** In words; absent where no form of it matches. */
  readonly match?: string;
}

type Form = readonly [words: string, keyOf: (secret: string) => Uint8Array | undefined];

const utf8 = (text: string) => new TextEncoder().encode(text);

/** The right form first, then the mistakes that people make most. */
const FORMS: readonly Form[] = [
  ["with this secret, as it is", utf8],
  ["with this secret without the white space around it", (secret) => utf8(secret.trim())],
  ["with this secret and a line break behind it", (secret) => utf8(`${secret}\n`)],
  ["with this secret, decoded from base64", decoded],
  ["with this secret in quotes", (secret) => utf8(`"${secret}"`)],
  [
    "with this secret without whsec_, decoded from base64",
    (secret) => decoded(secret.replace(/^whsec_/, "")),
  ],
];

/** Signs with each form of a secret, and compares. */
export async function trySecret(secret: string, input: Uint8Array, received: string): Promise<Tried> {
  const fingerprint = `sha256:${hex(await crypto.subtle.digest("SHA-256", utf8(secret))).slice(0, 8)}`;
  const wanted = base64url(received);
  for (const [words, keyOf] of FORMS) {
    const bytes = keyOf(secret);
    if (!bytes?.length) continue;
    const key = await crypto.subtle.importKey("raw", bytes as BufferSource, HMAC, false, ["sign"]);
    const mac = await crypto.subtle.sign(HMAC.name, key, input as BufferSource);
    const text = btoa(String.fromCharCode(...new Uint8Array(mac)));
    if (base64url(text) === wanted) return { fingerprint, match: words };
  }
  return { fingerprint };
}

const HMAC = { name: "HMAC", hash: "SHA-256" };

function base64url(text: string): string {
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(text: string): Uint8Array | undefined {
  try {
    const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
