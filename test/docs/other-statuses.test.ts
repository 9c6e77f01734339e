// The sentences of docs/guides/other-statuses.md are what the command says of servers that answer everything alike.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../kit/markdown.js";
import { SECRET } from "../kit/signed-request.js";
import { requireBuild } from "../kit/transcript.js";

const page = readFileSync(join(ROOT, "docs/guides/other-statuses.md"), "utf8");

beforeAll(requireBuild);

it.each([
  [419, "<h1>Page Expired</h1>"],
  [500, "Fatal error: Undefined variable"],
])("what is said of a server that answers %i to everything", async (status, body) => {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
  const printed = await new Promise<string>((resolve) => {
    const args = [join(ROOT, "cli/bin/hookproof.cjs"), "test", url, "--no-input", "--json"];
    const env = { ...process.env, HOOKPROOF_SECRET: SECRET };
    execFile(process.execPath, args, { env, cwd: import.meta.dirname }, (_, stdout) => resolve(stdout));
  });
  const [said] = page
    .split("\n")
    .filter((line) => line.startsWith(`> Every request, right or wrong, is answered ${status} `));
  expect(said).toBeDefined();
  expect(printed).toContain(JSON.stringify(said?.slice(2)).slice(1, -1));
});
