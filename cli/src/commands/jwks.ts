import { writeFile } from "node:fs/promises";
import { createKeySet, exportKeySet, type StaticHost } from "hookproof/jwks";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { openStore, STORE_FLAG } from "../key-store-flags.js";

const HOSTS: readonly StaticHost[] = ["nginx", "apache", "caddy", "headers-file", "s3"];

export const jwksExport: Command = {
  name: "jwks export",
  describe:
    "Writes the public key set as a file for any static HTTPS host, and the headers to serve it with.",
  flags: {
    ...STORE_FLAG,
    out: { type: "string", value: "<file>", describe: "the file; standard output by default" },
    path: {
      type: "string",
      value: "<path>",
      default: "/.well-known/jwks.json",
      describe: "where it will stand on the host",
    },
    "cache-max-age": {
      type: "number",
      value: "<seconds>",
      default: 300,
      describe: "how long receivers may keep the set",
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
    if (file !== undefined) await writeFile(file, exported.document);
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
