/** What people serve in place of a key set. */
export type OtherShape =
  | "list"
  | "key"
  | "page"
  | "pem"
  | "text"
  | "configuration"
  | "wrapped"
  | "map"
  | "other";

const WORDS: Readonly<Record<OtherShape, string>> = {
  list: 'it is a bare list; write { "keys": [ … ] } around it',
  key: 'it is a single key; write { "keys": [ … ] } around it',
  page: "it is an HTML page, such as a login or an error page",
  pem: "it is PEM, and listeners read JWK",
  text: "it is a JSON text inside of a text: it was serialised twice",
  configuration: "it is an OpenID configuration; the key set is at its jwks_uri",
  wrapped: "the key set is inside of another member",
  map: "keys is not a list, or the keys are members of an object by their kid",
  other: "",
};

/** What a document is that has no list of keys; `undefined` if it has one. Takes texts that are no JSON as well. */
export function otherShapeOf(document: unknown): OtherShape | undefined {
  if (typeof document === "string") return shapeOfText(document);
  if (Array.isArray(document)) return "list";
  if (!isObject(document)) return "other";
  if (Array.isArray(document.keys)) return undefined;
  if ("kty" in document) return "key";
  if (typeof document.jwks_uri === "string") return "configuration";
  const inside = Object.values(document).slice(0, 50).filter(isObject);
  if (inside.some(({ keys }) => Array.isArray(keys))) return "wrapped";
  const isMap = isObject(document.keys) || inside.some((one) => "kty" in one);
  return isMap || isCertificates(document) ? "map" : "other";
}

/** The same in words, to stand behind a colon; empty if nothing more is known. */
export function wordsOfShape(document: unknown): string {
  const shape = otherShapeOf(document);
  return shape === undefined || shape === "other" ? "" : `: ${WORDS[shape]}`;
}

/** The same of a body that is not JSON. */
export function wordsOfText(body: Uint8Array): string {
  return body.length === 0 ? ": it is empty" : wordsOfShape(new TextDecoder().decode(body.subarray(0, 200)));
}

function shapeOfText(text: string): OtherShape {
  const start = text.slice(0, 200).trimStart();
  if (start.startsWith("<")) return "page";
  if (start.startsWith("-----BEGIN")) return "pem";
  try {
    return isObject(JSON.parse(text)) ? "text" : "other";
  } catch {
    return "other";
  }
}

function isCertificates(document: Readonly<Record<string, unknown>>): boolean {
  return Object.values(document).some((one) => typeof one === "string" && one.startsWith("-----BEGIN"));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
