import { createSender, hmacSigner, jwtSigner } from "hookproof";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import { describe, expect, it } from "vitest";
import type { ReplayResult } from "../../service/src/inspector/contract.js";
import { inspected, postTo, SECRET } from "./inspected.js";

const NOW = () => Math.floor(Date.now() / 1000);

describe("a request sent again", () => {
  it("with the same id is 409, exactly is 409 and then 400, with a new id is 200", async () => {
    const { post, change, list, detail } = await inspected();
    await post({ payload: '{"a": 1}' });
    const replay = async (n: number, kind: string) =>
      (await change("POST", `api/requests/${n}/replay`, { kind })).json<ReplayResult>();
    expect(await replay(1, "same-id")).toMatchObject({ status: 409, n: 2 });
    expect(await replay(1, "exact")).toMatchObject({ status: 409, n: 3 });
    expect(await replay(1, "new-id")).toMatchObject({ status: 200, n: 4 });
    // An old request that was refused for its age: exactly it is refused again, signed anew it is not.
    await post({ timestamp: NOW() - 301 });
    expect(await replay(5, "exact")).toMatchObject({ status: 400, n: 6 });
    expect(await replay(5, "same-id")).toMatchObject({ status: 200, n: 7 });
    expect((await list()).rows.map(({ n, replay: one }) => [n, one?.of, one?.kind])).toEqual([
      [7, 5, "same-id"],
      [6, 5, "exact"],
      [5, undefined, undefined],
      [4, 1, "new-id"],
      [3, 1, "exact"],
      [2, 1, "same-id"],
      [1, undefined, undefined],
    ]);
    const [first, exact] = [await detail(1), await detail(3)];
    expect(exact.bodyBase64).toBe(first.bodyBase64);
    expect(exact.headers.filter(([name]) => /^webhook-|content-type/i.test(name))).toEqual(
      first.headers.filter(([name]) => /^webhook-|content-type/i.test(name)),
    );
    expect((await detail(4)).headers.filter(([name]) => /event-id/i.test(name))).not.toEqual(
      first.headers.filter(([name]) => /event-id/i.test(name)),
    );
  });

  it("after an edit, signed again or with the old signature", async () => {
    const { post, change, detail } = await inspected();
    await post({ payload: '{"a":1}' });
    const bodyBase64 = Buffer.from('{"a":2}').toString("base64");
    const edit = async (order: object) =>
      (
        await change("POST", "api/requests/1/replay", { kind: "edit", bodyBase64, ...order })
      ).json<ReplayResult>();
    expect(await edit({ sign: false })).toMatchObject({ status: 401 });
    expect(await edit({ eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" })).toMatchObject({
      status: 200,
      n: 3,
    });
    expect(Buffer.from((await detail(3)).bodyBase64, "base64").toString()).toBe('{"a":2}');
    expect(await edit({ eventId: "no uuid" })).toMatchObject({ status: 400 });
    expect(await edit({ timestamp: "" })).toMatchObject({ status: 400 });
    expect(await edit({ bodyBase64: Buffer.from("not json").toString("base64") })).toMatchObject({
      status: 400,
    });
    expect(await edit({ headers: [["Content-Type", "text/plain"]] })).toMatchObject({ status: 415 });
  });

  it("to a JWT listener: signed where a signer is given, else exactly or not at all", async () => {
    const key = await generateKey({ alg: "ES256" });
    const keys = await localKeys(await createKeySet([key]).publicJwks());
    const signer = jwtSigner({ key: key.privateJwk, kid: key.kid, alg: key.alg });
    const listeners = (baseUrl: string) =>
      ["lst_1", "lst_2"].map((id) => ({
        listener: { id, baseUrl, auth: { method: "jwt" as const, keys } },
        ...(id === "lst_1" ? { signer } : {}),
      }));
    const { post, url, change, inspector, detail } = await inspected({ listeners });
    await post({ signer });
    await postTo(url.replace("lst_1", "lst_2"), { signer });
    const statusOf = async (n: number, kind: string) => {
      const answer = await change("POST", `api/requests/${n}/replay`, { kind });
      return answer.json<{ status?: number; code?: string }>().code ?? answer.json<ReplayResult>().status;
    };
    expect(inspector.session().listeners.map(({ canSign }) => canSign)).toEqual([true, false]);
    expect([await statusOf(1, "same-id"), await statusOf(1, "new-id"), await statusOf(1, "exact")]).toEqual([
      409, 200, 409,
    ]);
    expect([await statusOf(2, "same-id"), await statusOf(2, "exact")]).toEqual(["REPLAY_IMPOSSIBLE", 409]);

    const { token, steps } = await detail(1);
    expect(token?.claims.map(({ name, state }) => [name, state])).toEqual(
      ["exp", "sub", "aud", "jti", "htm", "htb_s256"].map((name) => [name, "passed"]),
    );
    expect(token?.claims.find(({ name }) => name === "aud")).toMatchObject({
      actual: JSON.stringify(url),
      required: JSON.stringify(url),
    });
    expect(token?.key).toMatchObject({ kid: key.kid, alg: "ES256" });
    expect(steps.every(({ state }) => state === "passed")).toBe(true);
  });

  it("not where its body was not read to its end, or nothing listens", async () => {
    const { post, change, server, list } = await inspected();
    await post({ body: "x".repeat(200_000) });
    await fetch(`${server.url}/elsewhere`, { method: "POST", body: "{}" });
    const codes = await Promise.all(
      [1, 2].map(async (n) => (await change("POST", `api/requests/${n}/replay`, { kind: "exact" })).json()),
    );
    expect(codes).toMatchObject([{ code: "REPLAY_IMPOSSIBLE" }, { code: "LISTENER_UNKNOWN" }]);
    expect((await list()).total).toBe(2);
  });
});

describe("many at once", () => {
  it("are eight at the most, each with its own number, also of one request", async () => {
    const waiting: (() => void)[] = [];
    let isHeld = false;
    const { inspector, post } = await inspected({
      listeners: (baseUrl) => [
        {
          listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } },
          beforeAnswer: async (answer) => {
            if (!isHeld) return answer;
            await new Promise<void>((resolve) => {
              waiting.push(resolve);
              if (waiting.length === 8) for (const release of waiting) release();
            });
            return answer;
          },
        },
      ],
    });
    await post();
    isHeld = true;
    const ends = await Promise.allSettled(
      Array.from({ length: 9 }, () => inspector.replay(1, { kind: "exact" })),
    );
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
    expect(refused).toMatchObject([{ status: 503, code: "REPLAYS_BUSY" }]);
    const numbers = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value.n] : []));
    expect(numbers.toSorted()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(inspector.list().rows.filter(({ replay }) => replay?.of === 1)).toHaveLength(8);
  });
});

describe("a forced answer", () => {
  it("is seen by a sender, which tries again; the verdict stays in sight", async () => {
    const { url, change, list, detail, inspector } = await inspected();
    await change("PUT", "api/forced-answer", {
      listenerId: "lst_1",
      status: 503,
      times: 2,
      retryAfterSeconds: 0,
    });
    expect(inspector.session().forced).toMatchObject([{ status: 503, times: 2 }]);
    const sender = createSender({ url, signer: hmacSigner({ secret: SECRET }), wait: async () => {} });
    const receipt = await sender.send({ a: 1 });
    // The first attempt ran the automation, whatever its answer said.
    expect(receipt.attempts.map(({ status }) => status)).toEqual([503, 503, 409]);
    expect(receipt.outcome).toBe("accepted");
    expect((await list()).rows.map(({ status, verdictStatus }) => [status, verdictStatus])).toEqual([
      [409, undefined],
      [503, 409],
      [503, 200],
    ]);
    expect((await detail(1)).answer.headers).toContainEqual(["Retry-After", "0"]);
    expect(inspector.session().forced).toEqual([]);
  });

  it("waits, counts down, and is taken back", async () => {
    const { post, change, inspector } = await inspected();
    await change("PUT", "api/forced-answer", { listenerId: "lst_1", delayMs: 60, times: 5 });
    const started = performance.now();
    expect((await post()).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(59);
    expect(inspector.session().forced).toMatchObject([{ times: 4 }]);
    expect((await change("DELETE", "api/forced-answer?listener=lst_1")).status).toBe(204);
    expect(inspector.session().forced).toEqual([]);
  });
});
