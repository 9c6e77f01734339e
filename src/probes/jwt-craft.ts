import { generateSecret } from "../hmac/secret.js";
import { claimsFor } from "../jwt/claims.js";
import type { Algorithm, SigningKey } from "../jwt/key.js";
import { encodeBase64url } from "../primitives/base64url.js";
import { bodyBytes, utf8 } from "../primitives/bytes.js";
import { AUTHORIZATION_HEADER, SIGNATURE_HEADER } from "../protocol/headers.js";
import { DEFAULT_TOKEN_LIFETIME_SECONDS } from "../protocol/limits.js";
import { type Craft, type Parts, type ProbeRequest, partsOf, requestOf, type Scene } from "./craft.js";
import { type PublicJwk, type SignBytes, strangerKey, type TokenKey, tokenKey } from "./token-key.js";

/** What a token has otherwise than a correct one. Members are laid over its own (`undefined` takes one away); a text is raw JSON. */
export interface TokenChanges {
  readonly header?: Readonly<Record<string, unknown>> | string;
  readonly claims?: Readonly<Record<string, unknown>> | string;
  readonly sign?: SignBytes;
  /** Changes a segment's text before it is signed. */
  readonly spell?: (segment: string) => string;
}

/** The pieces of the JWT method. */
export interface JwtCraft extends Craft {
  readonly alg: Algorithm;
  readonly kid: string;
  /** A token for the parts, in compact form. */
  token(changes?: TokenChanges, over?: Partial<Parts>): Promise<string>;
  /** A request with a token that differs from a correct one. */
  withToken(changes: TokenChanges, over?: Partial<Parts>): Promise<ProbeRequest>;
  /** A request with any text as its `Authorization`. */
  withAuthorization(value: string, over?: Partial<Parts>): ProbeRequest;
  /** The listener's public key, where the private one tells it. */
  publicJwk(): Promise<PublicJwk | undefined>;
  /** A key that the listener does not know; ES256 unless it is to be of the target's own kind. */
  stranger(alg?: Algorithm): Promise<TokenKey>;
}

/** Makes crafts for a JWT listener. */
export async function jwtCrafts(key: SigningKey): Promise<(scene: Scene) => JwtCraft> {
  const { alg, kid } = key;
  const own = await tokenKey(key);
  const stranger = oncePerAlgorithm(strangerKey);
  return (scene) => {
    const craft: JwtCraft = {
      ...scene,
      alg,
      kid,
      publicJwk: own.publicJwk,
      stranger: (wanted = "ES256") => stranger(wanted),
      async token({ header, claims, sign = own.sign, spell = (text: string) => text } = {}, over) {
        const parts = partsOf(scene, over);
        const body = bodyBytes(parts.body);
        const exp = scene.nowSeconds + DEFAULT_TOKEN_LIFETIME_SECONDS;
        const correct = claimsFor({ ...parts, body, baseUrl: scene.baseUrl, exp });
        const input = [laidOver({ alg, kid, typ: "JWT" }, header), laidOver({ ...correct }, claims)]
          .map((json) => spell(encodeBase64url(utf8(json))))
          .join(".");
        return `${input}.${encodeBase64url(await sign(utf8(input)))}`;
      },
      withAuthorization: (value, over) => requestOf(partsOf(scene, over), [AUTHORIZATION_HEADER, value]),
      async withToken(changes, over) {
        return craft.withAuthorization(`Bearer ${await craft.token(changes, over)}`, over);
      },
      signed: (over) => craft.withToken({}, over),
      signedByStranger: async (over) => craft.withToken({ sign: (await stranger(alg)).sign }, over),
      otherMethod: () => [SIGNATURE_HEADER, generateSecret()],
    };
    return craft;
  };
}

function laidOver(members: object, changes: TokenChanges["claims"]): string {
  return typeof changes === "string" ? changes : JSON.stringify({ ...members, ...changes });
}

function oncePerAlgorithm(make: (alg: Algorithm) => Promise<TokenKey>): typeof make {
  const made = new Map<Algorithm, Promise<TokenKey>>();
  return (alg) => {
    const key = made.get(alg) ?? make(alg);
    made.set(alg, key);
    return key;
  };
}
