// The commands that check a key set and write it as a file.
import { closeSync, writeFileSync } from "node:fs";
import { checkKeySet, createKeySet, exportKeySet, type KeySetCheck, type StaticHost } from "hookproof/jwks";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { readText, unwritable } from "../files/files.js";
import { openOutput } from "../files/written-file.js";
import { openStore, STORE_FLAG } from "../keys/key-store-flags.js";
import { keySetTransport } from "../keys/keys.js";
import type { Colour } from "../output.js";

export const jwksCheck: Command = {
  name: "jwks check",
  details:
    "Fetches it as a listener does. Keys for another purpose, such as encryption, are noted and do no harm.",
  positionals: [{ name: "url", describe: "the key set's URL", required: true }],
  flags: { token: { type: "string", value: "<file|->", describe: "a token whose signature should verify" } },
  examples: [
    ["hookproof jwks check https://keys.example.com/.well-known/jwks.json", "every rule"],
    ["hookproof jwks check http://127.0.0.1:4410/.well-known/jwks.json --json", "a host on this machine"],
  ],
  exits: [[7, "a rule is broken, no key is usable, or the token's key is not"]],
  async run({ args, io, out }) {
    const file = args.text("token");
    const text = file === undefined ? undefined : await readText(io, file);
    const token = text?.trim().replace(/^Bearer /i, "");
    const url = args.text("url") ?? "";
    const { ok, checks } = await checkKeySet(url, {
      transport: await keySetTransport(io, url),
      allowInsecureLoopback: true,
      allowedCidrs: ["127.0.0.0/8", "::1/128"],
      token,
    });
    out.document({ type: "jwks-check", ok, checks });
    for (const check of checks)
      out.line(
        `${out.paint(COLOUR[check.outcome], MARK[check.outcome])} ${check.rule.padEnd(13)} ${shownCheck(check)}`,
      );
    return ok ? EXIT.ok : EXIT.checkFailed;
  },
};

const MARK = { pass: "✔", note: "-", warn: "!", fail: "✖" };
const COLOUR: Record<KeySetCheck["outcome"], Colour> = {
  pass: "green",
  note: "dim",
  warn: "yellow",
  fail: "red",
};

function shownCheck({ outcome, detail, keys }: KeySetCheck): string {
  if (!keys) return detail;
  return `${detail}${outcome === "fail" ? "; fails for" : ""}: ${keys.join(", ")}`;
}

const HOSTS: readonly StaticHost[] = ["nginx", "apache", "caddy", "headers-file", "s3"];

export const jwksExport: Command = {
  name: "jwks export",
  details: "Also prints the headers to serve it with, or with --host that server's configuration.",
  flags: {
    ...STORE_FLAG,
    out: { type: "string", value: "<file>", describe: "the file; standard output by default" },
    path: {
      type: "string",
      value: "<path>",
      default: "/.well-known/jwks.json",
      describe: "its path on the host",
    },
    "cache-max-age": {
      type: "number",
      value: "<seconds>",
      default: 300,
      describe: "how long listeners may cache the key set",
    },
    host: { type: "string", choices: HOSTS, describe: "print the headers as configuration of this host" },
  },
  examples: [
    ["hookproof jwks export --out jwks.json --host nginx", "the file, and nginx's configuration"],
    ["hookproof jwks export --json", "document, headers and configurations for a script"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const { store } = await openStore(io, args);
    const maxAgeSeconds = args.number("cache-max-age") ?? 300;
    const exported = await exportKeySet(createKeySet(store), {
      maxAgeSeconds,
      path: args.text("path"),
    }).catch((error: unknown) => {
      throw error instanceof TypeError ? usageError(`--${error.message}.`) : error;
    });
    await store.setMaxAge(maxAgeSeconds);
    const file = args.text("out");
    if (file !== undefined) writeOutput(file, exported.document);
    out.document({
      type: "jwks",
      ok: true,
      ...exported,
      document: JSON.parse(exported.document),
      ...(file === undefined ? {} : { file }),
    });
    if (file === undefined && !out.json) out.write(`${exported.document.trimEnd()}\n`);
    const host = HOSTS.find((name) => name === args.text("host"));
    if (host) {
      if (!out.json) out.write(`${exported.hosts[host].trimEnd()}\n`);
    } else for (const [name, value] of Object.entries(exported.headers)) out.note(`${name}: ${value}`);
    return EXIT.ok;
  },
};

function writeOutput(file: string, text: string): void {
  const handle = openOutput(file);
  try {
    writeFileSync(handle, text);
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    closeSync(handle);
  }
}
