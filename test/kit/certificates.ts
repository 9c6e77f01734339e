// Certificates for tests: made once for a run, in its folder (test-run.ts), or anew by who wants an authority of their own.
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

/** What a run's folder for temporary files calls them. */
const CERTIFICATES = "certificates.json";

/** Those of this run, made by whichever test asks first: to make them takes a process of its own. */
export function runCertificates(): Certificates {
  const file = join(tmpdir(), CERTIFICATES);
  if (!process.env.HOOKPROOF_TEST_RUN) return otherCertificates(); // the folder is everybody's
  if (!existsSync(file)) {
    const made = `${file}.${process.pid}`;
    writeFileSync(made, JSON.stringify(otherCertificates()));
    try {
      linkSync(made, file); // the first one stays
    } catch {}
    rmSync(made);
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Of an authority that nobody else has. */
export function otherCertificates(): Certificates {
  const script = join(import.meta.dirname, "make-certificates.mjs");
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" }));
}
