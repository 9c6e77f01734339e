import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openStorage } from "../../service/src/storage/storage.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const ROUNDS = process.env.HOOKPROOF_LONG === "1" ? 40 : 3;

/** Lets a process write, kills it in the middle, and gives the last number it said was written. */
async function writeAndKill(db: string, from: number, forMs: number): Promise<number> {
  const script = fileURLToPath(new URL("write-process.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, db, String(from)], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, forMs));
  child.kill("SIGKILL");
  await once(child, "close");
  return Number(said.trimEnd().split("\n").at(-1));
}

it(`SIGKILL during writes, ${ROUNDS} times: what was answered is there, whole`, async () => {
  const db = join(temporaryFolder("crash"), "service.db");
  let last = 0;
  for (let round = 0; round < ROUNDS; round++) {
    last = await writeAndKill(db, last + 1, 40 + 17 * round);
    const { db: opened, resourceTypes, signingKeys } = await openStorage(db, { now: () => 0 });
    expect(opened.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    expect(opened.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    const { displayName = "", traitIds = [] } = resourceTypes.get("app-1", "rt-1")?.resourceType ?? {};
    const number = Number(displayName.split(" ")[0]);
    // The write after the last answer may have been committed too.
    expect([last, last + 1]).toContain(number);
    expect(traitIds).toEqual(Array.from({ length: 100 }, (_, index) => `${number}-${index}`));
    expect(signingKeys.all().length).toBeGreaterThan(0);
    opened.close();
    last = number;
  }
});
