import { existsSync, readFileSync } from "node:fs";

/** The protocol's own vectors. */
export interface ProtocolVectors {
  hmac: {
    name: string;
    secret: string;
    timestamp: string;
    eventId: string;
    bodyBase64: string;
    signature: string;
    wrongIfSecretIsDecoded: string;
    htb_s256: string;
  }[];
  keys: {
    jwk: { kty: string; kid: string; alg: "RS256" | "ES256" | "EdDSA"; use: string };
    thumbprint: string;
    privatePkcs8Pem: string;
  }[];
  jwt: {
    name: string;
    alg: string;
    now: number;
    eventId: string;
    bodyBase64: string;
    url: string;
    baseUrl: string;
    token: string;
    valid: boolean;
    failsOn: string | null;
  }[];
}

/** Reads one file of `vectors/`, or one that others published, in `data/`. */
export function readVectors<Vectors>(name: string): Vectors {
  const ours = new URL(`../../vectors/${name}`, import.meta.url);
  const file = existsSync(ours) ? ours : new URL(`data/${name}`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Vectors;
}

/** The bytes of a case's body. */
export function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

/** The bytes of a hexadecimal value. */
export function hexBytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, "hex"));
}
