import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { createKeySet, generateKey } from "hookproof/jwks";
import { toJwksListener } from "hookproof/node";
import type { ProbeTarget } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { idsOf, resultsOf, SECRET } from "../../kit/probes/listeners.js";

const EXAMPLES = resolve(import.meta.dirname, "../../../examples");
const hasPython = hasTool("python3", "--version");

describe("listeners that somebody else could have written", () => {
  itWith("python3", hasPython)("Python's standard library, HMAC", () =>
    running("python3", "listener-python.py", { SIGNING_SECRET: SECRET }, async (url) => {
      const results = await resultsOf(
        { url, auth: { method: "hmac", secret: SECRET } },
        { allowTrigger: true },
      );
      expect(idsOf(results, "fail", "skip")).toEqual([]);
      // Python's parser stops at a limit of depth that depends on its version.
      expect(idsOf(results, "unclear").filter((id) => id !== "body-deeply-nested")).toEqual([]);
    }),
  );

  it("plain node:http, HMAC", () =>
    running(process.execPath, "listener-node-http.mjs", { SIGNING_SECRET: SECRET }, async (url) => {
      await expectClean({ url, auth: { method: "hmac", secret: SECRET } });
    }));

  it.each(["ES256", "RS256", "EdDSA"] as const)("plain node:http, JWT with %s", async (alg) => {
    const key = await generateKey({ alg });
    const keys = createServer(toJwksListener(createKeySet([key]))).listen(0, "127.0.0.1");
    await new Promise((listening) => keys.once("listening", listening));
    const JWKS_URL = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/`;
    try {
      await running(process.execPath, "listener-node-http.mjs", { JWKS_URL }, async (url) => {
        await expectClean({ url, auth: { method: "jwt", key: key.privateJwk, kid: key.kid, alg } });
      });
    } finally {
      keys.closeAllConnections();
      keys.close();
    }
  });
});

async function expectClean(target: ProbeTarget): Promise<void> {
  const results = await resultsOf(target, { allowTrigger: true });
  expect(idsOf(results, "fail", "unclear")).toEqual([]);
}

/** Runs an example until the test is over; its first line is its URL. */
async function running(
  command: string,
  file: string,
  env: Record<string, string>,
  test: (url: string) => Promise<void>,
): Promise<void> {
  const child = spawn(command, [resolve(EXAMPLES, file)], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await test(await firstLine(child));
  } finally {
    const ended = new Promise((done) => child.once("close", done));
    child.kill();
    await ended;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("no stdout");
  const lines = createInterface({ input: child.stdout });
  return new Promise((found, failed) => {
    lines.once("line", found);
    child.once("close", () => failed(new Error("ended before its first line")));
  });
}
