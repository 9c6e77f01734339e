// The lock of a key store's folder: whose lock file counts, for how long, and what it leaves behind.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { keyStoreFile, withPath } from "../../src/key-store/file.js";
import { withFolderLock } from "../../src/key-store/lock.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

// Of a process id that no process of this host has.
const OF_ANOTHER_HOST = "lock-00000000-999999999-0123456789abcdef";
const THIS_HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

/** A folder with a lock file that was written so long ago. */
function lockedFolder(ageMs: number, name = OF_ANOTHER_HOST) {
  const dir = temporaryFolder("lock");
  const lock = join(dir, name);
  writeFileSync(lock, "");
  const written = (Date.now() - ageMs) / 1000;
  utimesSync(lock, written, written);
  return { dir, lock };
}

it("is held while the work is done and its file is there, and released whatever the work does", async () => {
  const dir = temporaryFolder("lock");
  const seen = await withFolderLock(dir, async (isHeld) => {
    const [name = ""] = readdirSync(dir);
    const before = isHeld();
    rmSync(join(dir, name));
    return [name, before, isHeld()];
  });
  expect(seen).toEqual([
    expect.stringMatching(`^lock-[0-9a-f]{8}-${process.pid}-[0-9a-f]{16}$`),
    true,
    false,
  ]);
  const failing = withFolderLock(dir, () => Promise.reject(new Error("work")));
  await expect(failing).rejects.toThrow("work");
  expect(readdirSync(dir)).toEqual([]);
});

it.each([
  ["an old one of another host", 11_000, OF_ANOTHER_HOST, []],
  ["one of another host from the future", -11_000, OF_ANOTHER_HOST, []],
  // Written by a clock ahead, so that it does not grow too old while the test would wait for it.
  [
    "an earlier process of this process's id",
    -9_000,
    `lock-${THIS_HOST}-${process.pid}-0123456789abcdef`,
    [],
  ],
  ["a process of this host that is gone", -9_000, `lock-${THIS_HOST}-999999999-0123456789abcdef`, []],
  [
    "a file of another name, which stays",
    0,
    "lock-0000-1-0123456789abcdef",
    ["lock-0000-1-0123456789abcdef"],
  ],
])("does not wait for %s", async (_, ageMs, name, left) => {
  const { dir } = lockedFolder(ageMs, name);
  expect(await withFolderLock(dir, async () => "done")).toBe("done");
  expect(readdirSync(dir)).toEqual(left);
});

it.each([["a new one"], ["one that is nearly too old", 8_000]])(
  "waits for %s of another host, for 15 seconds",
  async (_, ageMs = 0) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { dir, lock } = lockedFolder(ageMs);
    let looks = 0;
    const refused = expect(
      withFolderLock(dir, async () => {
        looks += 1;
      }),
    ).rejects.toMatchObject({ code: "KEY_STORE_BUSY" });
    vi.advanceTimersByTime(15_001);
    await refused;
    expect([looks, existsSync(lock), readdirSync(dir)]).toEqual([0, true, [OF_ANOTHER_HOST]]);
  },
);

it("a file that is there and cannot be opened is no empty store", () => {
  const dir = temporaryFolder("lock");
  symlinkSync("keys.json", join(dir, "keys.json"));
  expect(() => keyStoreFile(dir).read()).toThrow(expect.objectContaining({ code: "KEY_STORE_UNREADABLE" }));
});

it("what lost its lock changes nothing", async () => {
  const file = keyStoreFile(join(temporaryFolder("lock"), "keys"));
  await file.makeFolder();
  const [empty, none] = [file.read(), file.signature()];
  await file.write({ ...empty, maxAgeSeconds: 60 }, () => true);
  const before = file.signature();
  expect(before).not.toBe(none);
  await expect(file.write({ ...empty, maxAgeSeconds: 90 }, () => false)).rejects.toMatchObject({
    code: "KEY_STORE_BUSY",
  });
  expect([file.signature(), file.read().maxAgeSeconds]).toEqual([before, 60]);
});

it.each([
  [
    Object.assign(new Error("x"), { syscall: "open", code: "EIO" }),
    "keys.json cannot be used: the disk failed.",
  ],
  [Object.assign(new Error("x"), { syscall: "open" }), "keys.json cannot be used: the system said unknown."],
  [new Error("a fault of our own"), "a fault of our own"],
])(
  "an error of the system is named with its file, at once or later; another is passed on",
  async (error, words) => {
    const failing = () => {
      throw error;
    };
    const thrown =
      error.message === words ? error : { message: expect.stringContaining(words), cause: error };
    expect(() => withPath("keys.json", failing)).toThrow(expect.objectContaining(thrown));
    await expect(withPath("keys.json", async () => failing())).rejects.toMatchObject(thrown);
  },
);
