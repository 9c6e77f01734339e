import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fixedClock } from "hookproof/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createLocalObjects } from "../../service/src/storage/local-objects.js";
import { wholeContent } from "../../service/src/storage/object-store.js";
import { createS3Objects } from "../../service/src/storage/s3-objects.js";
import { serve } from "../kit/loopback.js";
import { describeWith, itWith, POSIX } from "../kit/needs.js";
import { hasPython, startFakeS3 } from "./fake-s3.js";

/** Texts that are no keys; as a part of an address they would lead to other servers and buckets. */
const OTHER_KEYS = [
  ...["", "..", "../vault1", "a/b", "a.b", "a?b", "a#b", "a%2Fb", "a\n", "a".repeat(65)],
  ...["http:10.0.0.5:9200", "https://10.0.0.5/x", "//10.0.0.5/x", "\\\\10.0.0.5\\x"],
];

const START = Date.parse("2026-01-01T00:00:00Z");
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function stand(folder?: string) {
  const clock = fixedClock(START);
  const objects = createLocalObjects({
    folder,
    downloadsAt: () => "http://127.0.0.1:4420/local/v1/objects",
    clock,
  });
  const open = (url: string) => {
    const { pathname, searchParams } = new URL(url);
    return objects.open(
      decodeURIComponent(pathname.split("/").at(-1) ?? ""),
      Object.fromEntries(searchParams),
    );
  };
  return { clock, objects, open };
}

describe.each([
  ["in memory", () => undefined],
  [
    "in a folder",
    () => {
      const parent = mkdtempSync(join(tmpdir(), "hookproof-objects-"));
      closing.push(() => rmSync(parent, { recursive: true }));
      return join(parent, "objects");
    },
  ],
])("objects %s", (_, folder) => {
  it("come back byte by byte from the URL, for the reader it was made for", async () => {
    const { objects, open } = stand(folder());
    const content = randomBytes(100_000);
    await objects.put("vault1", content);
    const url = await objects.downloadUrl("vault1", "reader1");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4420\/local\/v1\/objects\/vault1\?/);
    const download = await open(url);
    expect(download?.reader).toBe("reader1");
    expect(Buffer.compare(await wholeContent(download?.content ?? new Uint8Array()), content)).toBe(0);
  });

  it("are read up to a size", async () => {
    const { objects } = stand(folder());
    await objects.put("vault1", Buffer.from("12345"));
    expect(await objects.read("vault1", 5)).toEqual(Buffer.from("12345"));
    expect(await objects.read("vault1", 4)).toBe("too large");
    expect(await objects.read("vault2", 5)).toBeUndefined();
    expect(await objects.read("../vault1", 5)).toBeUndefined();
  });

  it("can be downloaded for 5 minutes and no longer", async () => {
    const { clock, objects, open } = stand(folder());
    await objects.put("vault1", Buffer.from("file"));
    const url = await objects.downloadUrl("vault1", "reader1");
    clock.advance(299_999);
    expect(await open(url)).toBeDefined();
    clock.advance(1);
    expect(await open(url)).toBeUndefined();
  });

  it("cannot be had by a forged URL", async () => {
    const { objects, open } = stand(folder());
    await objects.put("vault1", Buffer.from("one"));
    await objects.put("vault2", Buffer.from("two"));
    const url = await objects.downloadUrl("vault1", "reader1");
    const changed = (change: (url: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return open(copy.href);
    };
    const set = (name: string, value: string) => changed(({ searchParams }) => searchParams.set(name, value));
    expect(await open(url)).toBeDefined();
    expect(
      await changed((copy) => (copy.pathname = copy.pathname.replace("vault1", "vault2"))),
    ).toBeUndefined();
    expect(await set("expires", String(START / 1000 + 3_000))).toBeUndefined();
    expect(await set("expires", "Infinity")).toBeUndefined();
    expect(await set("reader", "reader2")).toBeUndefined();
    expect(await set("signature", "")).toBeUndefined();
    expect(await set("signature", "ä".repeat(43))).toBeUndefined();
    expect(await changed(({ searchParams }) => searchParams.delete("signature"))).toBeUndefined();
    expect(await stand().open(url)).toBeUndefined();
  });

  it("have keys that cannot leave their place", async () => {
    const { objects } = stand(folder());
    for (const key of OTHER_KEYS)
      await expect(objects.put(key, Buffer.from("x"))).rejects.toThrow(RangeError);
  });

  it("that are not there give nothing, though the URL is good", async () => {
    const { objects, open } = stand(folder());
    expect(await open(await objects.downloadUrl("vault1", "reader1"))).toBeUndefined();
  });
});

it("keeps files and folder for their owner only, and nothing half-written", async () => {
  const parent = mkdtempSync(join(tmpdir(), "hookproof-objects-"));
  closing.push(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, "objects");
  const { objects } = stand(folder);
  await Promise.all([1, 2, 3].map((n) => objects.put("vault1", Buffer.alloc(1_000, n))));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual(["vault1"]);
  expect(statSync(join(folder, "vault1")).mode & 0o777).toBe(0o600);
});

itWith(...POSIX)("gives out no file at the end of a link", async () => {
  const parent = mkdtempSync(join(tmpdir(), "hookproof-objects-"));
  closing.push(() => rmSync(parent, { recursive: true }));
  const { objects, open } = stand(parent);
  writeFileSync(join(parent, "mine"), "mine");
  symlinkSync(join(parent, "mine"), join(parent, "vault1"));
  mkdirSync(join(parent, "vault2"));
  for (const key of ["vault1", "vault2"]) {
    expect(await objects.read(key, 100)).toBeUndefined();
    expect(await open(await objects.downloadUrl(key, "reader1"))).toBeUndefined();
  }
  expect(await objects.read("mine", 100)).toEqual(Buffer.from("mine"));
});

it("signs nothing for another address than a bucket's: a key is a name", async () => {
  const got: unknown[] = [];
  const store = await serve((request, response) => {
    got.push(request.url);
    response.end();
  });
  closing.push(() => store.stop());
  const keys = { accessKeyId: "AKIATEST", secretAccessKey: "test/secret+key" };
  const objects = createS3Objects({ ...keys, endpoint: store.url, bucket: "paper" }, fixedClock(START));
  for (const key of [...OTHER_KEYS, `${store.url}/x`, store.url.replace("//", "")]) {
    await expect(objects.put(key, Buffer.from("x"))).rejects.toThrow(RangeError);
    await expect(objects.downloadUrl(key, "reader1")).rejects.toThrow(RangeError);
    expect(await objects.read(key, 100)).toBeUndefined();
  }
  expect(got).toEqual([]);
  await objects.put("vault_1-a", Buffer.from("x"));
  expect(got).toEqual(["/paper/vault_1-a"]);
});

function* chunksOf(content: Buffer, length: number): Generator<Buffer> {
  for (let at = 0; at < content.length; at += length) yield content.subarray(at, at + length);
}

describeWith("python3", hasPython)("a bucket", () => {
  const keys = { bucket: "paper", accessKeyId: "AKIATEST", secretAccessKey: "test/secret+key" };

  it("takes objects and presigned downloads that Python's hmac finds good, for 5 minutes", async () => {
    const clock = fixedClock(START);
    const s3 = await startFakeS3(keys.secretAccessKey, () => clock.now());
    closing.push(() => s3.stop());
    const objects = createS3Objects({ ...keys, endpoint: s3.endpoint, region: "eu-central-1" }, clock);
    const content = randomBytes(10_000);
    await objects.put("vault1", content);
    expect([...s3.objects.keys()]).toEqual(["/paper/vault1"]);

    const url = await objects.downloadUrl("vault1", "reader1");
    expect(url).not.toContain(keys.secretAccessKey);
    const download = await fetch(url);
    expect(Buffer.compare(Buffer.from(await download.arrayBuffer()), content)).toBe(0);
    clock.advance(299_000);
    expect((await fetch(url)).status).toBe(200);
    clock.advance(1_000);
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(url.replace("vault1", "vault2"))).status).toBe(403);
    await objects.put("vault2", Buffer.from("12345"));
    expect(await objects.read("vault2", 5)).toEqual(Buffer.from("12345"));
    expect(await objects.read("vault2", 4)).toBe("too large");
    expect(await objects.read("vault3", 5)).toBeUndefined();
  });

  it.each([0, 5 * 2 ** 20, 12_000_000])(
    "takes %i bytes as they arrive, in parts of 5 MiB",
    async (length) => {
      const clock = fixedClock(START);
      const s3 = await startFakeS3(keys.secretAccessKey, () => clock.now());
      closing.push(() => s3.stop());
      const objects = createS3Objects({ ...keys, endpoint: s3.endpoint }, clock);
      const content = randomBytes(length);
      await objects.put("vault1", Readable.from(chunksOf(content, 700_001)));
      expect(s3.objects.get("/paper/vault1")?.equals(content)).toBe(true);
      expect(s3.uploads.size).toBe(0);
      expect(Math.max(...s3.sizes)).toBeLessThanOrEqual(5 * 2 ** 20);
    },
  );

  it("keeps nothing of a file that breaks off", async () => {
    const s3 = await startFakeS3(keys.secretAccessKey, () => START);
    closing.push(() => s3.stop());
    const objects = createS3Objects({ ...keys, endpoint: s3.endpoint }, fixedClock(START));
    async function* content() {
      yield randomBytes(6_000_000);
      throw new Error("broke off");
    }
    await expect(objects.put("vault1", content())).rejects.toThrow("broke off");
    expect(s3.sizes).toEqual([5 * 2 ** 20]);
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
  });

  it("that refuses is an error that says the status and no key", async () => {
    const s3 = await startFakeS3("another key", () => START);
    closing.push(() => s3.stop());
    const objects = createS3Objects({ ...keys, endpoint: `${s3.endpoint}/` }, fixedClock(START));
    await expect(objects.put("vault1", Buffer.from("x"))).rejects.toThrow("the object store answered 403");
  });
});

it("a bucket that redirects gets nothing sent elsewhere, and one whose answer has no end takes no memory", async () => {
  const got: unknown[] = [];
  const other = await serve((request, response) => {
    got.push(request.url);
    response.end();
  });
  const bucket = await serve(async (request, response) => {
    await request.resume().toArray();
    if (request.url?.endsWith("moved")) return void response.writeHead(307, { Location: other.url }).end();
    response.writeHead(200);
    let written = 0;
    const more = () => {
      do written += 65_536;
      while (written < 64e6 && response.write(Buffer.alloc(65_536, "x")));
      // Who reads on until here has read everything.
      if (written >= 64e6) response.destroy();
    };
    response.on("drain", more).on("error", () => {});
    more();
  });
  closing.push(bucket.stop, other.stop);
  const keys = { accessKeyId: "AKID", secretAccessKey: "secret" };
  const objects = createS3Objects({ endpoint: bucket.url, bucket: "b", ...keys }, fixedClock(START));
  await expect(objects.put("moved", Buffer.from("x"))).rejects.toThrow("the object store answered 307");
  expect(got).toEqual([]);
  await objects.put("endless", Buffer.from("x"));
});
