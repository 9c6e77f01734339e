import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate authority that openssl made for this test run, with a server's and a client's certificate. */
export interface Certificates {
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

export function makeCertificates(): Certificates {
  const dir = mkdtempSync(join(tmpdir(), "hookproof-ca-"));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: "pipe" });
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  try {
    openssl(
      "req",
      "-x509",
      ...ec,
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      "-days",
      "2",
      "-subj",
      "/CN=Test CA",
    );
    writeFileSync(
      join(dir, "server.ext"),
      "subjectAltName=DNS:localhost,DNS:tenant.example.com,IP:127.0.0.1\n",
    );
    writeFileSync(join(dir, "client.ext"), "extendedKeyUsage=clientAuth\n");
    for (const name of ["server", "client"]) {
      openssl("req", ...ec, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
      const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
      openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        ...signing,
        "-extfile",
        `${name}.ext`,
        "-out",
        `${name}.pem`,
      );
    }
    const pair = (name: string) => ({
      cert: readFileSync(join(dir, `${name}.pem`), "utf8"),
      key: readFileSync(join(dir, `${name}.key`), "utf8"),
    });
    return { ca: readFileSync(join(dir, "ca.pem"), "utf8"), server: pair("server"), client: pair("client") };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
