import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** A certificate and its private key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority of this test run, with a server's and a client's certificate. */
export interface Certificates {
  readonly ca: string;
  /** For localhost, 127.0.0.1 and tenant.example.com. */
  readonly server: Certificate;
  readonly client: Certificate;
  /** For 127.0.0.1, signed by itself. */
  readonly alone: Certificate;
}

export function makeCertificates(): Certificates {
  const script = join(import.meta.dirname, "make-certificates.mjs");
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" }));
}
