import { mkdirSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../test/kit/loopback.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import type { Io } from "../src/io.js";
import { askInspector } from "../src/mcp/inspector-client.js";
import { replayRequest } from "../src/mcp/requests.js";

/** A listener was killed, and another program has its port. */
async function asked(
  other: RequestListener,
  ask = (io: Io, port: number): Promise<unknown> => askInspector(io, port, "requests?limit=1"),
): Promise<unknown> {
  const server = await serve(other);
  onTestFinished(() => server.stop());
  const home = temporaryFolder("mcp-inspector");
  mkdirSync(join(home, "sessions"), { mode: 0o700 });
  const port = Number(new URL(server.url).port);
  const session = { v: 1, url: server.url, method: "hmac", inspector: `${server.url}/#t=token` };
  writeFileSync(join(home, "sessions", `${port}.json`), JSON.stringify(session), { mode: 0o600 });
  const io = { env: { HOOKPROOF_HOME: home } } as unknown as Io;
  return ask(io, port).catch((error: { code: string }) => error.code);
}

const endless: RequestListener = (_, response) => {
  response.writeHead(200, { "Content-Type": "application/json" }).write('{"a":"');
  let written = 0;
  const more = () => {
    do written += 65_536;
    while (written < 64e6 && response.write(Buffer.alloc(65_536, "x")));
    // Who reads on until here has read everything.
    if (written >= 64e6) response.end('"}');
  };
  response.on("drain", more).on("error", () => {});
  more();
};

it.each<[string, RequestListener]>([
  ["has no end", endless],
  ["is no JSON", (_, response) => response.end("<html>")],
  ["is null", (_, response) => response.end("null")],
  ["is a list", (_, response) => response.end("[]")],
  ["is a redirect", (_, response) => response.writeHead(307, { Location: "/" }).end()],
])("an answer that %s is that of another program", async (_, other) => {
  expect(await asked(other)).toBe("CONNECTION_FAILED");
});

it("an inspector's answer is handed on", async () => {
  expect(await asked((_, response) => response.end('{"rows":[]}'))).toEqual({ rows: [] });
});

it("a request of a file, imported or of a history, is sent by no assistant", async () => {
  const sent: string[] = [];
  const inspector =
    (detail: object): RequestListener =>
    ({ method, url }, response) => {
      if (method !== "GET") sent.push(String(url));
      response.end(JSON.stringify(detail));
    };
  for (const of of [{ imported: true }, { restored: true }])
    for (const kind of ["same-id", "exact", "new-id"])
      expect(
        await asked(inspector({ n: 1, ...of }), (io, port) => replayRequest(io, port, { n: 1, kind })),
      ).toBe("USAGE");
  expect(sent).toEqual([]);
  await asked(inspector({ n: 1 }), (io, port) => replayRequest(io, port, { n: 1, kind: "same-id" }));
  expect(sent).toHaveLength(1);
});
