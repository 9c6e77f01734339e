import { fork } from "node:child_process";
import { createHash, type Hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { itWith, LONG } from "../kit/needs.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { hasPython, startFakeS3 } from "./fake-s3.js";

const MIB = 2 ** 20;
/** After how many bytes a service is looked at. */
const LOOK_EVERY = 4 * MIB;
/** What the buffers of a service may hold of a file: a part of 5 MiB on its way to a bucket, which `fetch` copies thrice. */
const MAX = 24 * MIB;
const READER = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";
const KEYS = { bucket: "paper", accessKeyId: "AKIATEST", secretAccessKey: "test/secret+key" };
const [, isLong] = LONG;
const SIZE = (isLong ? 200 : 40) * MIB;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service in a process of its own, and the most that it ever held beyond what it held at the start. */
async function startProcess(options: object) {
  const file = new URL("./upload-process.mjs", import.meta.url);
  const child = fork(file, [JSON.stringify(options)], { execArgv: [] });
  child.once("exit", (code) => child.emit("error", new Error(`The service ended with ${code}.`)));
  closing.push(async () => {
    if (child.exitCode !== null) return;
    child.removeAllListeners("exit");
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  });
  const [started] = (await once(child, "message")) as [{ url: string; token: string }];
  const held = async (): Promise<number> => {
    const answer = once(child, "message");
    child.send("held");
    return (await answer)[0] as number;
  };
  const atStart = await held();
  let most = 0;
  return {
    ...started,
    headers: { Authorization: `Bearer ${started.token}`, "Content-Type": "application/json" },
    async look() {
      most = Math.max(most, (await held()) - atStart);
    },
    most: () => most,
  };
}

type Running = Awaited<ReturnType<typeof startProcess>>;

/** Uploads a file of the size and gives where it can be downloaded; the service is looked at now and then. */
async function uploaded({ url, headers, look }: Running, hash: Hash): Promise<string> {
  const sending = request(`${url}/local/v1/secrets/upload?filename=a.age&creatorUserId=ada`, {
    method: "POST",
    headers,
  });
  const answered = once(sending, "response") as Promise<[IncomingMessage]>;
  for (let sent = 0; sent < SIZE; sent += MIB) {
    const chunk = randomBytes(MIB);
    hash.update(chunk);
    await new Promise((resolve) => sending.write(chunk, resolve));
    if (sent % LOOK_EVERY === 0) await look();
  }
  sending.end();
  const [answer] = await answered;
  expect(answer.statusCode).toBe(200);
  const { id } = (await json(answer)) as { id: string };
  const body = JSON.stringify({ readerRecipient: READER });
  const seen = await fetch(`${url}/api/v1/secrets/${id}/view`, { method: "POST", headers, body });
  return ((await seen.json()) as { downloadUrl: string }).downloadUrl;
}

describe(`a file of ${SIZE / MIB} MiB passes through the service, which holds 24 of them at most`, () => {
  const fixture = { users: [{ id: "ada" }] };

  it("into a folder, and out of it", async () => {
    const db = join(temporaryFolder("upload"), "service.db");
    const service = await startProcess({ fixture, db });
    const [sent, received] = [createHash("sha256"), createHash("sha256")];
    const download = await fetch(await uploaded(service, sent));
    expect(download.headers.get("Content-Length")).toBe(String(SIZE));
    let bytes = 0;
    for await (const chunk of download.body ?? []) {
      received.update(chunk);
      if (Math.floor(bytes / LOOK_EVERY) < Math.floor((bytes + chunk.length) / LOOK_EVERY))
        await service.look();
      bytes += chunk.length;
    }
    expect(received.digest("hex")).toBe(sent.digest("hex"));
    expect(service.most()).toBeLessThan(MAX);
  });

  itWith("python3", hasPython)("into a bucket", async () => {
    const s3 = await startFakeS3(KEYS.secretAccessKey, Date.now);
    closing.push(() => s3.stop());
    const service = await startProcess({ fixture, s3: { ...KEYS, endpoint: s3.endpoint } });
    const sent = createHash("sha256");
    await uploaded(service, sent);
    const [object = Buffer.alloc(0)] = s3.objects.values();
    expect(createHash("sha256").update(object).digest("hex")).toBe(sent.digest("hex"));
    expect(service.most()).toBeLessThan(MAX);
  });
});
