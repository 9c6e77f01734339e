// Hides secrets in JSON by their names.
import { camelCase } from "../api/lenient-body.js";
import { isDeeper } from "../api/well-formed.js";

/** Stands where a secret was. */
export const HIDDEN = "[hidden]";

/** The ends of names whose values are not kept, whatever they are: a secret may stand twice, or in the wrong place. */
const SECRET =
  /(?:secret|assertion|password|passphrase|privateKey|privateJwk|(?:access|refresh|id|control)_?token)$/i;
const SECRETS = new Set(["text", "contentBase64", "downloadUrl", "signature"]);
/** Of a JWK: what makes it private (RFC 7518 section 6). */
const PRIVATE = new Set(["d", "p", "q", "dp", "dq", "qi", "oth", "k"]);

/** What is kept is written and searched by functions that call themselves. */
const MAX_LEVELS = 64;

/** Whether what has this name is a secret, in either spelling. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name) || SECRETS.has(camelCase(name));
}

/** A value as JSON, without the secrets in it; undefined where there is none, or it is nested too deeply. */
export function jsonWithoutSecrets(value: unknown): string | undefined {
  return isDeeper(MAX_LEVELS, value) ? undefined : JSON.stringify(value, hidden);
}

function hidden(this: object, name: string, value: unknown): unknown {
  const isSecret = isSecretName(name) || (PRIVATE.has(name) && Object.hasOwn(this, "kty"));
  return isSecret ? HIDDEN : value;
}
