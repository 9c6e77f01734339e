// The block of docs/guides/outbox-postgresql.md that stops a web server: it ends, and nobody gets a 500 on the way.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { transform } from "esbuild";
import { expect, it } from "vitest";
import { fencedBlocks, ROOT } from "../kit/markdown.js";

const PROGRAM = `
import { createServer } from "node:http";
let ended = false;
const pool = { end: async () => { ended = true; } };
const outbox = { stop: async () => {} };
const server = createServer(async (_, response) => {
  console.log("asked");
  await new Promise((go) => process.once("SIGUSR2", go));
  response.writeHead(ended ? 500 : 200).end("x");
}).listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
stopAtSigterm(server, outbox, pool);
process.on("SIGTERM", () => console.log("told"));
process.on("exit", () => console.log("pool " + ended));
`;

it("lets the request under way end with its answer, and then the process", async () => {
  const [block] = fencedBlocks(join(ROOT, "docs/guides/outbox-postgresql.md")).filter(({ text }) =>
    text.includes("stopAtSigterm"),
  );
  const { code } = await transform(block?.text ?? "", { loader: "ts" });
  const child = spawn(process.execPath, ["--input-type=module", "-e", code + PROGRAM], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  const hears = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(said);
      if (found) return found[1] ?? "";
      await once(child.stdout, "data");
    }
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const port = await hears(/^port (\d+)$/m);
  // A connection that is kept would hold the server for its 5 seconds.
  const asking = request({ port, host: "127.0.0.1", agent: false }).end();
  await hears(/^asked$/m);
  child.kill("SIGTERM");
  await hears(/^told$/m);
  child.kill("SIGUSR2");
  const [{ statusCode }] = (await once(asking, "response")) as [{ statusCode: number }];
  expect(statusCode).toBe(200);
  const [status] = await once(child, "exit");
  expect({ status, said }).toMatchObject({ status: 0, said: expect.stringContaining("pool true") });
});
