import { execFile } from "node:child_process";
import { copyFileSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { build } from "esbuild";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import { OPERATION_IDS } from "hookproof-service";
import ts from "typescript";
import { expect } from "vitest";
import { complaints } from "../kit/compile.js";
import { itWith } from "../kit/needs.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import type { Given } from "./generators/given.js";
import { operationAt } from "./openapi-operations.js";
import { startService } from "./running-service.js";

const here = join(import.meta.dirname, "generators");
const installed = join(here, "node_modules");
const document = join(import.meta.dirname, "../../service/openapi.json");

/** Each generator by the file beside it that calls its client, and how it is run. */
const GENERATORS = [
  ["oazapfts", "oazapfts/dist/cli.js", [document, "client.ts"]],
  [
    "hey-api",
    "@hey-api/openapi-ts/bin/run.js",
    ["-i", document, "-o", "client", "-c", "@hey-api/client-fetch", "--no-log-file", "--silent"],
  ],
] as const;

const STRICT: ts.CompilerOptions = {
  strict: true,
  skipDefaultLibCheck: true, // the compiler's own declarations
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: [],
};

itWith("npm ci --prefix test/service/generators", existsSync(installed)).each(GENERATORS)(
  "a client that %s generates compiles under strict, and calls every operation",
  async (name, bin, args) => {
    const folder = temporaryFolder(name);
    symlinkSync(installed, join(folder, "node_modules"));
    await promisify(execFile)(process.execPath, [join(installed, bin), ...args], { cwd: folder });
    copyFileSync(join(here, "given.ts"), join(folder, "given.ts"));
    const calls = join(folder, "calls.ts");
    copyFileSync(join(here, `${name}.txt`), calls);
    expect(complaints(ts.createProgram([calls], STRICT))).toEqual([]);

    const outfile = join(folder, "calls.mjs");
    await build({ entryPoints: [calls], bundle: true, format: "esm", outfile });
    const { callEverything } = (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as {
      callEverything(given: Given): Promise<void>;
    };
    const service = await startService();
    const answered: Record<string, number> = {};
    await callEverything({
      url: service.url,
      client: { client_id: service.clientId, client_secret: service.clientSecret },
      readerRecipient: await identityToRecipient(await generateX25519Identity()),
      async sign(url, secret, payload) {
        const event = createEvent(payload);
        return (await signRequest({ url, signer: hmacSigner({ secret }), event })).headers as never;
      },
      async fetch(input, init) {
        const request = new Request(input, init);
        const answer = await fetch(request);
        answered[operationAt(request.method, new URL(request.url).pathname)] = answer.status;
        return answer;
      },
    });
    expect(answered).toEqual(Object.fromEntries(OPERATION_IDS.map((id) => [id, 200])));
  },
);
