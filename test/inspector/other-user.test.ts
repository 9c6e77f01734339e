// Another user of the machine sees the inspector's page and no request.
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { TOKEN_HEADER } from "../../service/src/inspector/contract.js";
import { itWith } from "../kit/needs.js";
import { inspected } from "./inspected.js";

/** Only root can start a program as somebody else, who may be unable to reach Node. */
const NOBODY: [what: string, isThere: boolean] = [
  "root, and Node for everybody",
  process.getuid?.() === 0 &&
    spawnSync(process.execPath, ["-v"], { cwd: "/", uid: 65_534, gid: 65_534, env: {} }).status === 0,
];

describe("another user of this machine", () => {
  /** Node's own socket calls under another uid, as that user's program would make them. */
  async function asNobody(calls: readonly object[]): Promise<{ status: number; body: string }[]> {
    const program = `
      const calls = JSON.parse(process.argv[1]);
      const answers = [];
      for (const { url, ...options } of calls) {
        const answer = await fetch(url, options);
        answers.push({ status: answer.status, body: await answer.text() });
      }
      console.log(JSON.stringify(answers));`;
    const args = ["--input-type=module", "-e", program, JSON.stringify(calls)];
    const seen = await promisify(execFile)(process.execPath, args, {
      cwd: "/",
      uid: 65_534,
      gid: 65_534,
      env: {},
      timeout: 600_000,
    });
    return JSON.parse(seen.stdout);
  }

  itWith(...NOBODY)("gets the page, and no request, no signature and no signing", async () => {
    const { page, post, list, url } = await inspected();
    await post({ headers: { "Webhook-Signature": "A".repeat(43) } });
    const own = { Origin: page.url, "Content-Type": "application/json" };
    const guess = { ...own, [TOKEN_HEADER]: "A".repeat(43) };
    const edit = JSON.stringify({ kind: "edit", bodyBase64: "e30=", sign: true });
    const reads = ["session", "requests", "requests/1", "events", "export?credentials=1"];
    const answers = await asNobody([
      ...reads.flatMap((path) =>
        [{}, own, guess].map((headers) => ({ url: `${page.url}/api/${path}`, headers })),
      ),
      ...[own, guess].map((headers) => ({
        url: `${page.url}/api/requests/1/replay`,
        method: "POST",
        headers,
        body: edit,
      })),
      { url: `${page.url}/` },
    ]);
    const pageItself = answers.pop();
    expect(pageItself?.status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    const all = answers
      .concat(pageItself ?? [])
      .map(({ body }) => body)
      .join("\n");
    expect(all).not.toMatch(/"expected"|Webhook/);
    expect(all).not.toContain(new URL(page.pageUrl).hash.slice("#t=".length));
    expect((await list()).total).toBe(1);
    expect(url).toContain("127.0.0.1");
  });
});
