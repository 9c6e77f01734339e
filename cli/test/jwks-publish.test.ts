import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { openKeyStore } from "hookproof/node";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { serve } from "../../test/kit/loopback.js";
import { itWith } from "../../test/kit/needs.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { hasPython, startFakeS3 } from "../../test/service/fake-s3.js";

const BIN = resolve(import.meta.dirname, "../bin/hookproof.cjs");
const run = promisify(execFile);

beforeAll(requireBuild);

async function publish(home: string, args: readonly string[], env: Record<string, string> = {}) {
  const all = [BIN, "jwks", "publish", "--store", join(home, "keys"), "--json", ...args];
  const done = await run(process.execPath, all, {
    env: { ...process.env, HOOKPROOF_HOME: home, ...env },
  }).catch((error: { code: number; stdout: string }) => error);
  return { code: "code" in done ? done.code : 0, answer: JSON.parse(done.stdout) };
}

/** A host that shows the files of a folder. */
async function folderHost(folder: string): Promise<string> {
  const server = await serve((request, response) => {
    const file = join(folder, request.url ?? "");
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { "Cache-Control": "max-age=60" }).end(readFileSync(file));
  });
  onTestFinished(() => server.stop());
  return server.url;
}

describe("jwks publish, as a process", () => {
  it("goes on after it was killed, with the same successor and the same plan", async () => {
    const home = temporaryFolder("publish-cli");
    const www = join(home, "www");
    const url = `${await folderHost(www)}/.well-known/jwks.json`;
    const store = openKeyStore(join(home, "keys"));
    await store.generate({ alg: "ES256", kid: "first" });
    const watching = spawn(
      process.execPath,
      [BIN, "jwks", "publish", "--store", join(home, "keys"), "--json", "--url", url, "--folder", www].concat(
        ["--watch", "--every", "50ms"],
      ),
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, HOOKPROOF_HOME: home } },
    );
    onTestFinished(() => void watching.kill("SIGKILL"));
    expect(await nextAnswer(watching)).toMatchObject({ ok: true, kids: ["first"], uploaded: true });
    const { kid } = await store.rotate("ES256");
    const { planned } = await nextAnswer(watching, ({ planned }) => planned.length > 0);
    expect(planned[0]?.kid).toBe(kid);
    watching.kill("SIGKILL");
    await once(watching, "exit");

    const before = await store.list();
    writeFileSync(join(www, ".well-known/jwks.json"), "half of a fi");
    const { code, answer } = await publish(home, ["--url", url, "--folder", www]);
    expect({ code, ...answer }).toMatchObject({ code: 0, ok: true, uploaded: true, planned: [] });
    expect(await store.list()).toEqual(before);
  });

  it("leaves a sum of its looks when it is stopped", async () => {
    const home = temporaryFolder("publish-sum");
    const www = join(home, "www");
    const args = ["--store", join(home, "keys"), "--json", "--folder", www, "--watch", "--every", "20ms"];
    const url = `${await folderHost(www)}/jwks.json`;
    const watching = spawn(process.execPath, [BIN, "jwks", "publish", "--url", url, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, HOOKPROOF_HOME: home },
    });
    onTestFinished(() => void watching.kill("SIGKILL"));
    const left = text(watching.stdout);
    // What has been uploaded is spoilt, and so uploaded again.
    const file = join(www, "jwks.json");
    const shown = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
    await expect.poll(shown).toContain('"kid"');
    writeFileSync(file, "{}");
    await expect.poll(shown).toContain('"kid"');
    watching.kill("SIGINT");
    expect(await once(watching, "exit")).toEqual([0, null]);
    const sum = JSON.parse((await left).trimEnd().split("\n").at(-1) ?? "");
    expect(sum).toMatchObject({ type: "watched", ok: true, looks: expect.any(Number), failed: 0 });
    expect(sum.uploads).toBeGreaterThan(1);
    expect(sum.looks).toBeGreaterThanOrEqual(sum.uploads);
  });

  itWith("python3", hasPython)("uploads to a store that speaks S3, and sees it there", async () => {
    const home = temporaryFolder("publish-s3");
    const s3 = await startFakeS3("secret of the bucket", Date.now);
    onTestFinished(() => s3.stop());
    const host = await serve((_request, response) => response.end(s3.objects.get("/keys/jwks.json") ?? "{}"));
    onTestFinished(() => host.stop());
    const flags = [
      "--url",
      `${host.url}/jwks.json`,
      "--s3",
      "s3://keys/jwks.json",
      "--s3-endpoint",
      s3.endpoint,
    ];
    const credentials = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret of the bucket" };
    const wrong = await publish(home, flags, { ...credentials, AWS_SECRET_ACCESS_KEY: "another" });
    expect(wrong).toMatchObject({ code: 5, answer: { ok: false, code: "KEY_SET_UPLOAD_FAILED" } });
    expect(wrong.answer.detail).toBe("s3://keys/jwks.json: the store answered 403.");
    const done = await publish(home, flags, credentials);
    expect(done).toMatchObject({ code: 0, answer: { ok: true, uploaded: true } });
    expect(JSON.parse(String(s3.objects.get("/keys/jwks.json"))).keys).toHaveLength(1);
  });
});

interface Answer {
  planned: { kid: string }[];
}

/** The next JSON line of a process that fits. */
function nextAnswer(child: ChildProcess, fits = (_: Answer) => true): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let seen = "";
    const look = (chunk: Buffer) => {
      seen += chunk;
      const lines = seen.split("\n").slice(0, -1);
      const found = lines.map((line) => JSON.parse(line)).find(fits);
      if (!found) return;
      child.stdout?.off("data", look);
      resolve(found);
    };
    child.stdout?.on("data", look);
    child.once("exit", () => reject(new Error(`ended: ${seen}`)));
  });
}
