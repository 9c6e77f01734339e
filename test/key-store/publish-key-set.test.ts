import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HookproofError } from "hookproof";
import { createKeySet } from "hookproof/jwks";
import {
  commandUpload,
  fileUpload,
  openKeyStore,
  type PublishKeySetOptions,
  publishKeySet,
} from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { startStaticHost, type UploadFault } from "./static-host.js";

const MINUTE = 60_000;

async function published(maxAgeSeconds = 300) {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const dir = join(temporaryFolder("published"), "keys");
  const store = openKeyStore(dir, { clock });
  const { kid } = await store.generate({ alg: "ES256" });
  const host = await startStaticHost(maxAgeSeconds);
  let fault: UploadFault = "none";
  const publish = (options: Partial<PublishKeySetOptions> = {}) =>
    publishKeySet(store, {
      url: host.url,
      upload: async (document) => host.upload(document, fault),
      settleForMs: 0,
      allowInsecureLoopback: true,
      ...options,
    });
  const states = async () => (await store.list()).map(({ state }) => state);
  const failWith = (next: UploadFault) => {
    fault = next;
  };
  return { clock, dir, store, kid, host, publish, states, failWith };
}

describe("a rotation at a static host", () => {
  it("waits for the proof, then for the caches, and signs", async () => {
    const { clock, store, kid, host, publish, states } = await published();
    expect(await publish()).toEqual({ ok: true, kids: [kid], uploaded: true, planned: [], takenBack: [] });
    const asked = await store.rotate("ES256");
    expect(asked.steps.map(({ step }) => step)).toEqual(["publish"]);
    expect(await store.rotate("ES256")).toEqual(asked);
    clock.advance(60 * MINUTE);
    expect(await states(), "no process has looked at the host").toEqual(["active", "next"]);

    const { planned } = await publish();
    const at = clock.now();
    expect(planned).toEqual([
      {
        alg: "ES256",
        kid: asked.kid,
        steps: [
          { step: "publish", kid: asked.kid, at: at - 60 * MINUTE },
          { step: "sign", kid: asked.kid, at: at + 15 * MINUTE },
          { step: "retire", kid, at: at + 15 * MINUTE },
          { step: "remove", kid, at: at + 30 * MINUTE },
        ],
      },
    ]);
    expect(await publish(), "proved again").toMatchObject({ ok: true, uploaded: false, planned: [] });
    clock.advance(15 * MINUTE);
    expect(await states()).toEqual(["retired", "active"]);
    clock.advance(15 * MINUTE);
    expect(await publish()).toMatchObject({ ok: true, uploaded: true, kids: [asked.kid] });
    expect(host.document).not.toContain(kid);
  });

  it("an upload that ends neither by itself nor by its signal is given up", async () => {
    const { publish } = await published();
    const stop = new AbortController();
    const publication = publish({
      signal: stop.signal,
      upload: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    expect(await publication).toMatchObject({
      ok: false,
      uploaded: false,
      problem: {
        code: "KEY_SET_UPLOAD_FAILED",
        detail: "The upload failed: it was told to end, and did not.",
      },
    });
  });

  it("two keys made before the first proof do not sign at the same time", async () => {
    const { clock, store, publish } = await published();
    await publish();
    const [first, second] = [await store.generate({ alg: "EdDSA" }), await store.generate({ alg: "EdDSA" })];
    expect((await publish()).planned.map(({ kid }) => kid)).toEqual([first.kid]);
    clock.advance(15 * MINUTE);
    const statesOfBoth = async () =>
      (await store.list()).flatMap(({ alg, kid, state }) => (alg === "EdDSA" ? [[kid, state]] : []));
    expect(await statesOfBoth()).toEqual([
      [first.kid, "active"],
      [second.kid, "next"],
    ]);
    await store.rotate("EdDSA");
    await publish();
    clock.advance(15 * MINUTE);
    expect(await statesOfBoth()).toEqual([
      [first.kid, "retired"],
      [second.kid, "active"],
    ]);
  });

  it("refuses a wait that is no number, which would have no end", async () => {
    const { publish } = await published();
    await expect(publish({ settleForMs: Number.NaN })).rejects.toThrow(RangeError);
  });

  it("waits for as long as the host lets caches keep the older set", async () => {
    const { clock, store, publish } = await published(3_600);
    await publish();
    await store.rotate("ES256");
    const { planned } = await publish({ publishForMs: 15 * MINUTE });
    expect(planned[0]?.steps.find(({ step }) => step === "sign")?.at).toBe(clock.now() + 65 * MINUTE);
  });

  it("waits for as long as it is told", async () => {
    const { clock, store, publish } = await published();
    await publish();
    await store.rotate("ES256");
    const { planned } = await publish({ publishForMs: 60 * MINUTE, retireAfterMs: 45 * MINUTE });
    expect(planned[0]?.steps.map(({ step, at }) => [step, (at - clock.now()) / MINUTE])).toEqual([
      ["publish", 0],
      ["sign", 60],
      ["retire", 60],
      ["remove", 105],
    ]);
  });

  it("plans the rotations of two algorithms at the same time", async () => {
    const { store, publish } = await published();
    await store.generate({ alg: "EdDSA" });
    await publish();
    const asked = [await store.rotate("ES256"), await store.rotate("EdDSA")];
    const { planned } = await publish();
    expect(planned.map(({ alg, kid }) => [alg, kid])).toEqual(asked.map(({ alg, kid }) => [alg, kid]));
  });

  it.each(["refused", "half", "late"] as const)("does not go on when an upload is %s", async (fault) => {
    const { clock, store, kid, publish, states, failWith } = await published();
    await publish();
    await store.rotate("ES256");
    failWith(fault);
    const done = await publish();
    const code = fault === "refused" ? "KEY_SET_UPLOAD_FAILED" : "KEY_SET_NOT_PUBLISHED";
    expect(done).toMatchObject({ ok: false, planned: [], problem: { code } });
    clock.advance(24 * 60 * MINUTE);
    expect(await states()).toEqual(["active", "next"]);
    expect((await createKeySet(store).signingKey("ES256")).kid).toBe(kid);
    failWith("none");
    expect((await publish()).planned).toHaveLength(1);
  });

  it("takes a plan back that another process made while an older set was on its way to the host", async () => {
    const { clock, dir, store, host, publish, states } = await published();
    await publish();
    host.document = "{}";
    let kid: string | undefined;
    const slow = await publish({
      async upload(document) {
        ({ kid } = await openKeyStore(dir, { clock }).rotate("ES256"));
        expect((await publish()).planned).toMatchObject([{ kid }]);
        host.upload(document, "none");
      },
    });
    expect(slow).toMatchObject({ ok: false, uploaded: true, planned: [], takenBack: [kid] });
    expect(slow.problem).toMatchObject({
      code: "KEY_SET_NOT_PUBLISHED",
      detail: expect.stringMatching(/publish again/),
    });
    expect(host.document).not.toContain(kid);
    clock.advance(60 * MINUTE);
    expect(await states()).toEqual(["active", "next"]);
    expect((await publish()).planned).toMatchObject([{ kid }]);
    expect((await store.rotate("ES256")).kid).toBe(kid);
  });

  it("takes a plan back when the host shows an older set again, and begins the wait again", async () => {
    const { clock, store, host, publish, states, failWith } = await published();
    await publish();
    const older = host.document;
    const { kid } = await store.rotate("ES256");
    await publish();
    clock.advance(14 * MINUTE);
    host.document = older;
    failWith("refused");
    expect(await publish()).toMatchObject({ ok: false, takenBack: [kid] });
    clock.advance(14 * MINUTE);
    expect(await states()).toEqual(["active", "next"]);
    failWith("none");
    expect((await publish()).planned).toHaveLength(1);
    clock.advance(14 * MINUTE);
    expect(await states()).toEqual(["active", "next"]);
    clock.advance(MINUTE);
    expect(await states()).toEqual(["retired", "active"]);
  });

  it.each<[string, string, RegExp]>([
    ["null", '{"keys":[null]}', /shows a key that is no object/],
    ["a list", '{"keys":[[]]}', /shows a key that is no object/],
    ["a key whose kid has no text", '{"keys":[{"kid":{"toString":1}}]}', /lacks/],
    ["a key nested deeply", `{"keys":[{"kid":"a","x":${"[".repeat(30_000)}${"]".repeat(30_000)}}]}`, /lacks/],
  ])("takes a plan back when the host shows %s", async (_, document, detail) => {
    const { store, host, publish, failWith } = await published();
    await publish();
    const { kid } = await store.rotate("ES256");
    await publish();
    host.document = document;
    failWith("late");
    const { ok, takenBack, problem } = await publish();
    expect({ ok, takenBack }).toEqual({ ok: false, takenBack: [kid] });
    expect(problem?.detail).toMatch(detail);
  });

  it("takes over a plan that was made without a proof", async () => {
    const { clock, store, publish, states, failWith } = await published();
    await store.rotate("ES256");
    failWith("refused");
    expect(await publish()).toMatchObject({ ok: false });
    clock.advance(60 * MINUTE);
    expect(await states()).toEqual(["active", "next"]);
  });

  it("takes back what is planned alone where the clock is put back before a key signed that retires already", async () => {
    const { clock, store, kid, publish, states } = await published();
    await publish();
    const second = await store.rotate("ES256");
    await publish();
    clock.advance(20 * MINUTE);
    expect(await states()).toEqual(["retired", "active"]);
    const third = await store.rotate("ES256");
    await publish();
    clock.advance(-10 * MINUTE);
    expect(await states()).toEqual(["active", "next", "next"]);
    // Of the two that are to sign, the second has a successor: its own times stand.
    const timesOf = async (id: string) => {
      const key = (await store.list()).find((one) => one.kid === id);
      return [key?.signsAt, key?.retiresAt];
    };
    const [signsAt] = await timesOf(second.kid);
    const before = await timesOf(kid);
    expect(await store.publication.takeBack()).toEqual([third.kid]);
    expect(await timesOf(kid)).toEqual(before);
    expect(await timesOf(second.kid)).toEqual([signsAt, undefined]);
    expect(await timesOf(third.kid)).toEqual([undefined, undefined]);
  });

  it.each<[what: string, thrown: unknown, detail: string]>([
    [
      "an error of this library keeps its own words",
      new HookproofError("KEY_SET_UPLOAD_FAILED", "rsync ended with 23: no such host."),
      "rsync ended with 23: no such host.",
    ],
    [
      "any other error is an upload that failed",
      new Error("403 from the bucket"),
      "The upload failed: 403 from the bucket.",
    ],
    ["what is no error has no reason", "403 from the bucket", "The upload failed: no reason was given."],
    ["nothing has no reason", undefined, "The upload failed: no reason was given."],
  ])("of an upload that rejects: %s", async (_, thrown, detail) => {
    const { publish } = await published();
    const upload = () => Promise.reject(thrown);
    expect(await publish({ upload })).toMatchObject({
      ok: false,
      uploaded: false,
      problem: { code: "KEY_SET_UPLOAD_FAILED", detail },
    });
  });

  it("proves the first key of another algorithm as well; a key that has leaked is replaced at once", async () => {
    const { clock, store, publish } = await published();
    await publish();
    const { kid, state } = await store.generate({ alg: "EdDSA" });
    expect(state).toBe("next");
    const { planned } = await publish();
    expect(planned[0]?.steps.at(-1)).toEqual({ step: "sign", kid, at: clock.now() + 15 * MINUTE });
    const { steps } = await store.rotate("ES256", { immediately: true });
    expect(steps.find(({ step }) => step === "sign")?.at).toBe(clock.now());
  });

  it("another key under the same kid, and a key that nobody knows, are no proof", async () => {
    const { store, host, publish, failWith } = await published();
    await publish();
    failWith("late");
    const { keys } = JSON.parse(host.document);
    const other = JSON.parse(JSON.stringify(keys));
    other[0].x = keys[0].y;
    host.document = JSON.stringify({ keys: other });
    expect((await publish()).problem?.detail).toMatch(/^The set at the host has another key under "/);
    host.document = JSON.stringify({ keys: [...keys, { ...keys[0], kid: "stranger" }] });
    expect((await publish()).problem?.detail).toBe('The set at the host still has "stranger".');
    await store.rotate("ES256");
    host.document = JSON.stringify({ keys });
    expect((await publish()).problem?.detail).toMatch(/^The set at the host lacks "/);
  });

  it("keeps to one URL until it is released", async () => {
    const { store, publish, host } = await published();
    await publish();
    await expect(publish({ url: `${host.url}?2` })).rejects.toMatchObject({ code: "KEY_STORE_PUBLISHED" });
    await expect(publish({ url: "http://keys.example.com/" })).rejects.toMatchObject({
      code: "KEY_SET_URL_REFUSED",
    });
    await store.publication.end();
    expect((await store.rotate("ES256")).steps).toHaveLength(4);
  });
});

describe("uploads", () => {
  const signal = new AbortController().signal;

  it("a file is whole or absent, and readable by the host", async () => {
    const folder = temporaryFolder("upload");
    const file = join(folder, "www", ".well-known", "jwks.json");
    await fileUpload(file)('{"keys":[]}\n', signal);
    expect(readFileSync(file, "utf8")).toBe('{"keys":[]}\n');
    expect(statSync(file).mode & 0o044).toBe(0o044);
    expect(readdirSync(join(folder, "www", ".well-known"))).toEqual(["jwks.json"]);
    await expect(fileUpload(join(file, "below.json"))("x", signal)).rejects.toMatchObject({
      code: "KEY_SET_UPLOAD_FAILED",
      message: expect.stringMatching(/cannot be written \((?:ENOTDIR|EEXIST)\)/),
    });
  });

  it("a command reads the document from standard input or from a file, and no shell reads its words", async () => {
    const folder = temporaryFolder("upload");
    const script = join(folder, "upload.cjs");
    writeFileSync(
      script,
      `const { readFileSync, writeFileSync } = require("node:fs");
const [, , file, word, out] = process.argv;
writeFileSync(out, JSON.stringify([readFileSync(0, "utf8"), readFileSync(file, "utf8"), word]));`,
    );
    const out = join(folder, "out.json");
    const word = "$(touch owned); `id` & | > x";
    await commandUpload(process.execPath, [script, "{file}", word, out])("document", signal);
    expect(JSON.parse(readFileSync(out, "utf8"))).toEqual(["document", "document", word]);
    expect(existsSync(join(folder, "owned"))).toBe(false);
  });

  it("a command is begun when the whole file is there, and its folder is gone afterwards", async () => {
    const out = join(temporaryFolder("upload"), "out");
    // So large that it takes longer to write than a shell to begin.
    const document = "0123456789abcdef".repeat(4 * 1024 * 1024);
    const script = 'wc -c < "$0" > "$1"; dirname "$0" >> "$1"';
    await commandUpload("sh", ["-c", script, "{file}", out])(document, signal);
    const [size, folder = ""] = readFileSync(out, "utf8").trim().split("\n");
    expect(Number(size)).toBe(document.length);
    expect(existsSync(folder)).toBe(false);
    const fails = commandUpload("sh", ["-c", 'dirname "$0" > "$1"; exit 1', "{file}", out]);
    await expect(fails("x", signal)).rejects.toThrow("ended with 1");
    expect(existsSync(readFileSync(out, "utf8").trim())).toBe(false);
  });

  it("a command that fails, is not there, or is stopped says so", async () => {
    const fails = commandUpload(process.execPath, [
      "-e",
      "console.error('no such bucket'); process.exit(23)",
    ]);
    await expect(fails("x", signal)).rejects.toThrow("ended with 23: no such bucket.");
    await expect(commandUpload("/no/such/program")("x", signal)).rejects.toThrow("cannot be run (ENOENT)");
    const hangs = commandUpload(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await expect(hangs("x", AbortSignal.timeout(50))).rejects.toThrow("was stopped before it had finished");
    expect(() => commandUpload("")).toThrow(TypeError);
  });
});
