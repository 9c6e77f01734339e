import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { asProgram, type Language } from "../../service/inspector/copy/as-program.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { inspected, SECRET } from "./inspected.js";

const run = promisify(execFile);

const RUNS: readonly (readonly [Language, string, string, ...string[]])[] = [
  ["JavaScript", "program.mjs", process.execPath],
  ["Python", "program.py", "/usr/bin/python3"],
  ["Go", "program.go", "/usr/bin/go", "run"],
  ["PHP", "program.php", "/usr/bin/php"],
];

/** Quotes, dollars, line ends, other alphabets; and bytes that are no text. */
const BODIES = [
  `{"quote":"it's \\"here\\" $HOME {$x} \`id\` \\\\ %s é 😀",\n "lines":"a\\nb"}`,
  Uint8Array.of(0x22, 0xc3, 0xa9, 0x00, 0x22),
];

for (const [language, file, command, ...args] of RUNS)
  itWith(command, hasTool(command, language === "Go" ? "version" : "--version"))(
    `a request copied as ${language} is sent again with the same bytes and a right signature`,
    async () => {
      const { post, detail } = await inspected();
      const folder = await mkdtemp(join(tmpdir(), "hookproof-program-"));
      try {
        let n = 0;
        for (const body of BODIES) {
          await post({ body });
          const copied = await detail(++n);
          const text = asProgram(language, copied) ?? "";
          expect(text).not.toContain(SECRET);
          await writeFile(join(folder, file), text);
          const env = { ...process.env, HOOKPROOF_SECRET: SECRET, GOCACHE: join(folder, "cache") };
          const { stdout } = await run(command, [...args, file], { cwd: folder, env });
          const sent = await detail(++n);
          expect(sent.bodyBase64).toBe(copied.bodyBase64);
          // A body that is no JSON is refused after its signature was found right.
          expect(stdout).toMatch(body instanceof Uint8Array ? /^400 .*BODY_NOT_JSON/ : /^200 /);
          const bare = { ...env, HOOKPROOF_SECRET: "" };
          await expect(run(command, [...args, file], { cwd: folder, env: bare })).rejects.toMatchObject({
            stdout: "",
            stderr: expect.stringMatching(/^Set HOOKPROOF_SECRET to the listener's secret\.\n/),
          });
        }
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

it("listeners for tokens have no program", () => {
  const detail = { auth: "jwt", url: "http://127.0.0.1/", bodyBase64: "e30=" };
  expect(asProgram("Python", detail as never)).toBeUndefined();
});
