// Makes certificates for this machine by an authority of the user's own.
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import type { Extension } from "@peculiar/x509";

export const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 365;
const CERTIFICATE_DAYS = 30;
const AUTHORITY_NAME = "CN=hookproof on this machine";

/** A certificate and its private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority that can sign for the names of this machine and for nothing else, wherever it should be trusted. */
export async function issueAuthority(): Promise<Certificate> {
  // Few ask for it, and it takes long to load.
  const { BasicConstraintsExtension, Extension, KeyUsagesExtension, KeyUsageFlags } = await import(
    "@peculiar/x509"
  );
  return issued(AUTHORITY_NAME, AUTHORITY_DAYS, undefined, [
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    new Extension("2.5.29.30", true, ONLY_LOOPBACK),
  ]);
}

/** A certificate for localhost and the loopback addresses. */
export async function issueLocalhost(authority: Certificate): Promise<Certificate> {
  const {
    BasicConstraintsExtension,
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsagesExtension,
    KeyUsageFlags,
    SubjectAlternativeNameExtension,
  } = await import("@peculiar/x509");
  return issued("CN=localhost", CERTIFICATE_DAYS, authority, [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension([
      { type: "dns", value: "localhost" },
      { type: "ip", value: "127.0.0.1" },
      { type: "ip", value: "::1" },
    ]),
  ]);
}

/** Key and certificate out of one text; undefined if they are not there, or do not belong together. */
export function pairIn(text: string): Certificate | undefined {
  const [key = ""] = /-----BEGIN PRIVATE KEY-----[^-]*-----END PRIVATE KEY-----/.exec(text) ?? [];
  const [cert = ""] = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(text) ?? [];
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : undefined;
  } catch {
    return undefined;
  }
}

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

async function issued(
  subject: string,
  days: number,
  by: Certificate | undefined,
  extensions: Extension[],
): Promise<Certificate> {
  const { X509CertificateGenerator } = await import("@peculiar/x509");
  const { subtle } = webcrypto;
  const keys = await subtle.generateKey(ECDSA, true, ["sign", "verify"]);
  const signingKey = by
    ? await subtle.importKey(
        "pkcs8",
        createPrivateKey(by.key).export({ format: "der", type: "pkcs8" }),
        ECDSA,
        false,
        ["sign"],
      )
    : keys.privateKey;
  const certificate = await X509CertificateGenerator.create({
    // 20 octets at most, positive.
    serialNumber: `4${randomBytes(16).toString("hex").slice(1)}`,
    subject,
    issuer: by ? AUTHORITY_NAME : subject,
    // An hour back, for clients whose clock is a little behind.
    notBefore: new Date(Date.now() - DAY_MS / 24),
    notAfter: new Date(Date.now() + days * DAY_MS),
    signingAlgorithm: ECDSA,
    publicKey: keys.publicKey,
    signingKey,
    extensions,
  });
  const key = createPrivateKey({
    key: Buffer.from(await subtle.exportKey("pkcs8", keys.privateKey)),
    format: "der",
    type: "pkcs8",
  });
  return {
    cert: certificate.toString("pem").trim(),
    key: key.export({ format: "pem", type: "pkcs8" }).toString().trim(),
  };
}

/** A value of ASN.1 in DER, of fewer than 128 bytes. */
function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const content = Buffer.concat(parts);
  return Uint8Array.of(tag, content.length, ...content);
}

/** NameConstraints of RFC 5280, 4.2.1.10: localhost and what is below it, 127.0.0.0/8 and ::1. */
const ONLY_LOOPBACK = der(
  0x30,
  der(
    0xa0,
    der(0x30, der(0x82, Buffer.from("localhost"))),
    der(0x30, der(0x87, Uint8Array.of(127, 0, 0, 0, 255, 0, 0, 0))),
    der(0x30, der(0x87, new Uint8Array(15), Uint8Array.of(1), new Uint8Array(16).fill(255))),
  ),
);
