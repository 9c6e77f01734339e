// The programs of docs/guides/first-webhook.md, run against a listener with their secret and one with another.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateSecret } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { expect, onTestFinished } from "vitest";
import { fencedBlocks, ROOT } from "../kit/markdown.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { SECRET } from "../kit/signed-request.js";

const blocks = fencedBlocks(join(ROOT, "docs/guides/first-webhook.md"));
const PROGRAMS = [
  { language: "python", tool: "python3", has: hasTool("python3", "--version"), run: ["python3", "send.py"] },
  { language: "php", tool: "php", has: hasTool("php", "--version"), run: ["php", "send.php"] },
  { language: "go", tool: "go", has: hasTool("go", "version"), run: ["go", "run", "send.go"] },
];

for (const { language, tool, has, run } of PROGRAMS)
  itWith(tool, has)(`${language}: accepted with its secret, and refused with another`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "hookproof-first-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [block] = blocks.filter((one) => one.language === language);
    const [command = "", ...args] = run;
    writeFileSync(join(folder, args.at(-1) ?? ""), block?.text ?? "");
    const received: unknown[] = [];
    const server = createServer((request, response) => listener(request, response));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const receiver = createReceiver({
      listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } },
    });
    const listener = toNodeListener(receiver, async (event) => void received.push(event.payload));

    const send = async (secret: string) => {
      const { PATH, HOME } = process.env;
      const env = { PATH, HOME, GOCACHE: join(folder, "cache"), GOFLAGS: "-modcacherw", GO111MODULE: "off" };
      const { stdout } = await promisify(execFile)(command, args, {
        cwd: folder,
        env: {
          ...env,
          HOOKPROOF_SECRET: secret,
          LISTENER_URL: `${baseUrl}/api/v1/webhooks/incoming/lst_1`,
        },
      });
      return stdout;
    };
    expect(await send(SECRET)).toMatch(/^200\b/);
    expect(received).toEqual([{ type: "user.offboarded", userId: "u_123" }]);
    expect(await send(generateSecret())).toMatch(/^401 .*SIGNATURE_MISMATCH/);
    expect(received).toHaveLength(1);
    await expect(send("")).rejects.toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/^Set HOOKPROOF_SECRET to the listener's secret\.\n/),
    });
    expect(received).toHaveLength(1);
  });
