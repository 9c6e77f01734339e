import { createDecipheriv, createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { inspect } from "node:util";
import type { OpenSqliteDatabase } from "hookproof/node";
import { aesGcmEncryption, type BodyEncryption } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import LibSql from "libsql";
import { describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { outboxBench, waitFor } from "./bench-outbox.js";

const keyOf = (id: string) => ({ id, key: new Uint8Array(randomBytes(32)) });
type Change = (bytes: Uint8Array) => [sealed: Uint8Array, listener: string, eventId?: string];

const body = new TextEncoder().encode('{"note":"confidential"}');

describe("aesGcmEncryption", () => {
  it("is AES-256-GCM as others know it: nonce, ciphertext, tag, bound to the listener and the event id", async () => {
    const key = keyOf("k1");
    const sealed = await aesGcmEncryption([key]).encrypt(body, { listener: "a", eventId: "e1" });
    expect(sealed.keyId).toBe("k1");
    const bytes = Buffer.from(sealed.body);
    const other = createDecipheriv("aes-256-gcm", key.key, bytes.subarray(0, 12));
    other.setAAD(Buffer.from('["hookproof outbox","a","e1"]')).setAuthTag(bytes.subarray(-16));
    expect(Buffer.concat([other.update(bytes.subarray(12, -16)), other.final()])).toEqual(Buffer.from(body));
  });

  it("never makes the same bytes twice", async () => {
    const encryption = aesGcmEncryption([keyOf("k1")]);
    const made = await Promise.all(
      Array.from({ length: 50 }, () => encryption.encrypt(body, { listener: "a", eventId: "e1" })),
    );
    expect(new Set(made.map(({ body: bytes }) => Buffer.from(bytes).toString("hex"))).size).toBe(50);
  });

  it("decrypts with every key, and encrypts with the first", async () => {
    const [old, fresh] = [keyOf("old"), keyOf("new")];
    const sealed = await aesGcmEncryption([old]).encrypt(body, { listener: "a", eventId: "e1" });
    const rotated = aesGcmEncryption([fresh, old]);
    expect(await rotated.decrypt(sealed.body, { listener: "a", eventId: "e1", keyId: "old" })).toEqual(body);
    expect((await rotated.encrypt(body, { listener: "a", eventId: "e1" })).keyId).toBe("new");
    await expect(
      aesGcmEncryption([fresh]).decrypt(sealed.body, { listener: "a", eventId: "e1", keyId: "old" }),
    ).rejects.toMatchObject({ code: "OUTBOX_KEY_MISSING" });
  });

  it.each<[what: string, change: Change]>([
    ["a flipped bit", (bytes) => [bytes.map((byte, index) => (index === 20 ? byte ^ 1 : byte)), "a"]],
    ["a lost byte", (bytes) => [bytes.slice(0, -1), "a"]],
    ["nothing", () => [new Uint8Array(), "a"]],
    ["another listener", (bytes) => [bytes, "b"]],
    ["another event id", (bytes) => [bytes, "a", "e2"]],
    ["the id moved into the listener", (bytes) => [bytes, 'a","e1', ""]],
  ])("refuses %s", async (_, change) => {
    const encryption = aesGcmEncryption([keyOf("k1")]);
    const { body: sealed, keyId } = await encryption.encrypt(body, { listener: "a", eventId: "e1" });
    const [bytes, listener, eventId = "e1"] = change(sealed);
    await expect(encryption.decrypt(bytes, { listener, eventId, keyId })).rejects.toMatchObject({
      code: "OUTBOX_BODY_UNREADABLE",
    });
  });

  it.each([
    ["no key", []],
    ["a short key", [{ id: "k", key: new Uint8Array(16) }]],
    ["no id", [{ id: "", key: new Uint8Array(32) }]],
    ["an id twice", [keyOf("k"), keyOf("k")]],
  ])("refuses %s", (_, keys) => {
    expect(() => aesGcmEncryption(keys)).toThrow(TypeError);
  });

  it("shows no key", () => {
    const key = new Uint8Array(32).fill(171);
    expect(inspect(aesGcmEncryption([{ id: "k", key }]), { depth: 9 })).not.toMatch(/171|ab/);
  });
});

describe("an outbox with encryption", () => {
  it("stores nothing readable, and delivers the bytes that were enqueued", async () => {
    const bench = outboxBench();
    let received = "";
    const server = await bench.receiver({
      intercept(request, response, receive) {
        request.on("data", (chunk: Buffer) => {
          received += chunk.toString();
        });
        return receive(request, response);
      },
    });
    const encryption = aesGcmEncryption([keyOf("k1")]);
    const outbox = bench.outbox({ a: bench.listener(server) }, { encryption });
    await outbox.enqueue({ listener: "a", payload: { note: "confidential" } });
    const [claimed] = await bench.store.claim({
      limit: 1,
      leaseMs: 1,
      listeners: new Map([["a", { most: 1, windowMs: 604_800_000 }]]),
    });
    expect(new TextDecoder().decode(claimed?.event.body)).not.toContain("confidential");
    bench.clock.advance(10);
    await outbox.drain();
    expect(received).toBe('{"note":"confidential"}');
  });

  it("takes events that are prepared and events that are not in one call", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const encryption = aesGcmEncryption([{ id: "1", key: new Uint8Array(32) }]);
    const outbox = bench.outbox({ a: bench.listener(server) }, { encryption });
    const prepared = await outbox.prepare({ listener: "a", payload: { n: 1 } });
    await outbox.enqueue([prepared, { listener: "a", payload: { n: 2 } }]);
    await outbox.drain();
    expect(server.runs.size).toBe(2);
  });

  it("keeps an event whose key is missing, and delivers it when the key is there", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const [old, fresh] = [keyOf("old"), keyOf("new")];
    const listeners = { a: bench.listener(server) };
    const { eventId } = await bench
      .outbox(listeners, { encryption: aesGcmEncryption([old]) })
      .enqueue({ listener: "a", payload: {} });
    for (const encryption of [undefined, aesGcmEncryption([fresh])]) {
      const before = bench.told("retry-scheduled").length;
      const without = bench.outbox(listeners, { encryption });
      without.start();
      await waitFor(() => bench.told("retry-scheduled").length > before);
      await without.stop();
      bench.clock.advance(60_000);
    }
    expect((await bench.outbox(listeners).find(eventId))[0]).toMatchObject({
      state: "pending",
      attempts: Array(2).fill({ code: "OUTBOX_KEY_MISSING" }),
    });
    expect(bench.told("warning").length).toBeGreaterThan(0);
    expect(server.requests).toHaveLength(0);
    await bench.outbox(listeners, { encryption: aesGcmEncryption([fresh, old]) }).drain();
    expect(server.runs.get(eventId)).toBe(1);
  });

  it("takes ten seconds at most of an encryption that never answers", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const listeners = { a: bench.listener(server) };
    const encryption = aesGcmEncryption([keyOf("one")]);
    const hanging = {
      encrypt: () => new Promise<never>(() => {}),
      decrypt: () => new Promise<never>(() => {}),
    };
    const { eventId } = await bench.outbox(listeners, { encryption }).enqueue({ listener: "a", payload: {} });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const enqueued = bench
        .outbox(listeners, { encryption: hanging })
        .enqueue({ listener: "a", payload: {} })
        .catch((error: unknown) => error);
      const worker = bench.outbox(listeners, { encryption: hanging });
      worker.start();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await enqueued).toMatchObject({ code: "TIMED_OUT" });
      await vi.advanceTimersByTimeAsync(10_000);
      const stopped = worker.stop();
      await vi.advanceTimersByTimeAsync(10_000);
      await stopped;
    } finally {
      vi.useRealTimers();
    }
    expect((await bench.outbox(listeners).find(eventId))[0]).toMatchObject({
      state: "pending",
      attempts: [{ code: "TIMED_OUT" }],
    });
    expect(server.requests).toHaveLength(0);
  });

  it("never sends a body that was changed in the store", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    // A function of the user's own that gives other bytes back.
    const encryption: BodyEncryption = {
      encrypt: async (bytes) => ({ body: bytes, keyId: "own" }),
      decrypt: async () => new TextEncoder().encode('{"note":"forged"}'),
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { encryption });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    await outbox.drain();
    expect((await outbox.find(eventId))[0]?.state).toBe("dead");
    for await (const letter of outbox.deadLetters())
      expect(letter).toMatchObject({ reason: "unsendable", code: "OUTBOX_BODY_UNREADABLE" });
    expect(server.requests).toHaveLength(0);
  });

  describe.each(["as it was enqueued", "redriven", "redriven under a new id"])(
    "a body that somebody stored unencrypted, %s",
    (how) => {
      it.each([undefined, false, true])(
        "is sent only if allowUnencrypted says so: %s",
        async (allowUnencrypted) => {
          const bench = outboxBench();
          const server = await bench.receiver();
          const listeners = { a: bench.listener(server) };
          // Whoever writes to the database needs no key for this.
          const { eventId } = await bench
            .outbox(listeners)
            .enqueue({ listener: "a", payload: { type: "user.promoted", userId: "mallory" } });
          const encryption = aesGcmEncryption([keyOf("k")]);
          const strict = bench.outbox(listeners, { encryption });
          if (how !== "as it was enqueued") {
            await strict.drain();
            const newIds = how.endsWith("new id");
            expect(await strict.redrive({}, { newIds })).toMatchObject({ redriven: 1 });
          }
          const outbox = bench.outbox(listeners, { encryption, allowUnencrypted });
          await outbox.drain();
          const letters = [];
          for await (const letter of outbox.deadLetters()) letters.push(letter);
          if (allowUnencrypted) {
            expect(server.requests).toHaveLength(1);
            expect(letters).toEqual([]);
          } else {
            expect(server.requests).toHaveLength(0);
            expect(letters).toMatchObject([{ reason: "unsendable", code: "OUTBOX_BODY_UNREADABLE" }]);
            if (!how.endsWith("new id")) expect(letters[0]?.event.id).toBe(eventId);
          }
          // What is enqueued here is encrypted, and sent.
          await outbox.enqueue({ listener: "a", payload: { type: "user.offboarded" } });
          await outbox.drain();
          expect(server.requests).toHaveLength(allowUnencrypted ? 2 : 1);
        },
      );
    },
  );

  it("sends no body whose key's id somebody took away in the database", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const file = join(temporaryFolder("outbox"), "outbox.db");
    const open = () => new LibSql(file);
    const store = sqliteStore({
      open: open as unknown as () => OpenSqliteDatabase,
      clock: bench.storeClock,
    }) as OutboxStore<never>;
    const listeners = { a: bench.listener(server) };
    const outbox = bench.outbox(listeners, { store, encryption: aesGcmEncryption([keyOf("k")]) });
    await outbox.enqueue({ listener: "a", payload: { type: "user.offboarded" } });
    const forged = Buffer.from('{"type":"user.promoted","userId":"mallory"}');
    const digest = createHash("sha256").update(forged).digest("base64url");
    const db = open();
    db.exec(`UPDATE hookproof_outbox_bodies SET body = X'${forged.toString("hex")}'`);
    db.exec(`UPDATE hookproof_outbox SET encryption_key_id = NULL, digest = '${digest}'`);
    db.close();
    await outbox.drain();
    expect(server.requests).toHaveLength(0);
    const codes = [];
    for await (const { code } of outbox.deadLetters()) codes.push(code);
    expect(codes).toEqual(["OUTBOX_BODY_UNREADABLE"]);
    await store.close();
  });

  it("keeps no answer, as a receiver may repeat the body in it", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response) {
        request.resume();
        response.writeHead(400).end('you sent {"note":"confidential"}');
      },
    });
    const outbox = bench.outbox(
      { a: bench.listener(server) },
      { encryption: aesGcmEncryption([keyOf("k")]) },
    );
    const { eventId } = await outbox.enqueue({ listener: "a", payload: { note: "confidential" } });
    await outbox.drain();
    expect(JSON.stringify(await outbox.find(eventId))).not.toContain("confidential");
  });
});
