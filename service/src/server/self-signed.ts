// Makes a certificate for localhost.
const DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A certificate for localhost and the loopback addresses, with its key, in PEM. It is good for 7 days and kept nowhere. */
export async function selfSignedCertificate(): Promise<{ cert: string; key: string }> {
  // Few ask for it, and it takes as long to load as everything else together.
  const { default: selfsigned } = await import("selfsigned");
  const { cert, private: key } = await selfsigned.generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    // An hour back, for clients whose clock is a little behind.
    notBeforeDate: new Date(Date.now() - DAY_MS / 24),
    notAfterDate: new Date(Date.now() + DAYS * DAY_MS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  return { cert, key };
}
