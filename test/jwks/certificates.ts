import selfsigned from "selfsigned";

/** A certificate authority of the test's own, and what it has signed for localhost and 127.0.0.1. */
export interface Certificates {
  readonly ca: string;
  readonly server: { cert: string; key: string };
}

export async function makeCertificates(): Promise<Certificates> {
  const kind = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;
  const ca = await selfsigned.generate([{ name: "commonName", value: "Hookproof test CA" }], {
    ...kind,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await selfsigned.generate([{ name: "commonName", value: "localhost" }], {
    ...kind,
    ca: { key: ca.private, cert: ca.cert },
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
        ],
      },
    ],
  });
  return { ca: ca.cert, server: { cert: server.cert, key: server.private } };
}
