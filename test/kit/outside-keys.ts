// Private keys made by openssl and ssh-keygen, in the forms that people keep them in.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Algorithm } from "../../src/jwt/algorithms.js";

/** A key as a program has written it, and its public half as openssl gives it. */
export interface OutsideKey {
  readonly alg: Algorithm;
  readonly pkcs8: string;
  /** PKCS#1 or SEC1; Ed25519 has no such form. */
  readonly traditional?: string;
  /** Encrypted under the passphrase `opens it`, in each form that openssl writes. */
  readonly encrypted: readonly string[];
  /** The public key as PEM (SPKI). */
  readonly publicPem: string;
}

/** Does something in a folder that goes with it. */
function inFolder<Made>(make: (path: (name: string) => string) => Made): Made {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-outside-keys-"));
  try {
    return make((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const openssl = (...args: string[]) =>
  execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

const MADE_BY: Readonly<Record<Algorithm, readonly string[]>> = {
  RS256: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
  ES256: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
  EdDSA: ["-algorithm", "ed25519"],
};

/** A key that openssl makes. */
export function opensslKey(alg: Algorithm): OutsideKey {
  return inFolder((path) => {
    openssl("genpkey", ...MADE_BY[alg], "-out", path("key.pem"));
    const given = ["pkey", "-in", path("key.pem")];
    const sealed = ["-aes256", "-passout", "pass:opens it"];
    const old = [...given, "-traditional"];
    return {
      alg,
      pkcs8: readFileSync(path("key.pem"), "utf8"),
      ...(alg === "EdDSA" ? {} : { traditional: openssl(...old) }),
      encrypted: [openssl(...given, ...sealed), ...(alg === "EdDSA" ? [] : [openssl(...old, ...sealed)])],
      publicPem: openssl(...given, "-pubout"),
    };
  });
}

/** The text that openssl makes of an encrypted key by the command that our refusal names. */
export function decryptedByOpenssl(command: string, pem: string): string {
  return inFolder((path) => {
    execFileSync("tee", [path("key.pem")], { input: pem, stdio: ["pipe", "ignore", "ignore"] });
    const names = { "key.pem": path("key.pem"), "decrypted.pem": path("decrypted.pem") };
    const [program = "", ...args] = command
      .split(" ")
      .map((word) => names[word as keyof typeof names] ?? word);
    execFileSync(program, [...args, "-passin", "pass:opens it"], { stdio: "ignore" });
    return readFileSync(path("decrypted.pem"), "utf8");
  });
}

/** A key that ssh-keygen makes, its public line, and what the command of a refusal makes of a copy. */
export function sshKey(kind: "rsa" | "ecdsa" | "ed25519"): {
  readonly text: string;
  readonly publicLine: string;
  convertedBy(command: string): string;
} {
  const make = (path: (name: string) => string) =>
    execFileSync("ssh-keygen", ["-q", "-t", kind, "-N", "", "-f", path("key")], { stdio: "ignore" });
  return inFolder((path) => {
    make(path);
    const text = readFileSync(path("key"), "utf8");
    return {
      text,
      publicLine: readFileSync(path("key.pub"), "utf8"),
      convertedBy: (command) =>
        inFolder((other) => {
          make(other);
          copyFileSync(other("key"), other("copy"));
          const [program = "", ...args] = command.split(" ");
          const words = args.map((word) => (word === "key" ? other("copy") : word));
          execFileSync(program, [...words, "-P", "", "-N", ""], { stdio: "ignore" });
          return readFileSync(other("copy"), "utf8");
        }),
    };
  });
}

const lines = (pem: string) => pem.trimEnd().split("\n");

/** The forms in which a PEM is kept, by their names. */
export const PEM_FORMS: Readonly<Record<string, (pem: string) => string>> = {
  "as it is": (pem) => pem,
  "with CRLF": (pem) => pem.replaceAll("\n", "\r\n"),
  "with a byte order mark": (pem) => `\uFEFF${pem}`,
  "with \\n written out": (pem) => pem.replaceAll("\n", "\\n"),
  "with \\r\\n written out": (pem) => pem.replaceAll("\n", "\\r\\n"),
  "with \\n escaped twice": (pem) => pem.replaceAll("\n", "\\\\n"),
  "in quotes": (pem) => `"${pem}"`,
  "in single quotes, with \\n": (pem) => `'${pem.replaceAll("\n", "\\n")}'`,
  "with \\u000a written out": (pem) => pem.replaceAll("\n", "\\u000a"),
  "as a list of its lines": (pem) => JSON.stringify(lines(pem)),
  "as it stands in a URL": (pem) => encodeURIComponent(pem),
  "as it stands in a form": (pem) => new URLSearchParams({ "": pem }).toString().slice(1),
  "with spaces for its lines": (pem) => pem.replaceAll("\n", " "),
  "in one line without spaces": (pem) => pem.replaceAll("\n", ""),
  "in the JSON of a service account": (pem) =>
    JSON.stringify({ type: "service_account", private_key_id: "1f", private_key: pem, client_id: "1" }),
  "as a text of JSON": (pem) => JSON.stringify(pem),
  "in a line of .env": (pem) =>
    `# the key\nOTHER=1\nKEY="${pem.trimEnd().replaceAll("\n", "\\n")}"\nMORE=2\n`,
  "in several lines of .env": (pem) => `KEY="${pem.trimEnd()}"\nMORE=2\n`,
  "in a shell's export": (pem) => `export KEY='${pem.trimEnd()}'\n`,
  "in YAML": (pem) =>
    `signing:\n  key: |\n${lines(pem)
      .map((line) => `    ${line}\n`)
      .join("")}  kid: one\n`,
  "in YAML, in double quotes": (pem) => `key: "${lines(pem).join("\\n\\\n  ")}\\n"\n`,
  "with text around it": (pem) =>
    `Bag Attributes\n    friendlyName: one\nKey Attributes: <No Attributes>\n${pem}`,
  "base64 of it": (pem) => Buffer.from(pem).toString("base64"),
  "base64 of it, in lines": (pem) =>
    lines(Buffer.from(pem).toString("base64").replace(/.{76}/g, "$&\n")).join("\n"),
  "base64url of it, without padding": (pem) => Buffer.from(pem).toString("base64url"),
  "base64 of it, in .env": (pem) => `KEY=${Buffer.from(pem).toString("base64")}\n`,
  "base64 of it, in a Secret of Kubernetes": (pem) =>
    `apiVersion: v1\nkind: Secret\ndata:\n  key.pem: ${Buffer.from(pem).toString("base64")}\ntype: Opaque\n`,
  "its base64 alone": (pem) => lines(pem).slice(1, -1).join(""),
};
