import { inspect } from "node:util";
import {
  createEvent,
  createSender,
  generateSecret,
  hmacSigner,
  type SenderOptions,
  signRequest,
} from "hookproof";
import { afterEach, describe, expect, it } from "vitest";
import { type ReceiverServer, receiverServer } from "../kit/receiver-server.js";

const [OLD, NEW] = [generateSecret(), generateSecret()];
const payload = { type: "user.offboarded" };

let server: ReceiverServer;
afterEach(() => server.stop());

/** A sender whose secret a function gives, and a receiver that takes some secrets. */
async function over(
  secret: Parameters<typeof hmacSigner>[0]["secret"],
  accepted: readonly string[],
  options: Partial<SenderOptions> = {},
) {
  const statuses: number[] = [];
  server = await receiverServer({
    auth: { method: "hmac", secret: accepted.length === 2 ? [...accepted] : (accepted[0] ?? "") },
    async intercept(request, response, receive) {
      await receive(request, response);
      statuses.push(response.statusCode);
    },
  });
  const sender = createSender({
    url: server.url,
    signer: hmacSigner({ secret }),
    wait: async () => {},
    ...options,
  });
  return { sender, statuses };
}

describe("a secret that a function gives", () => {
  it("is asked for at every attempt: one that was rotated signs the next event, and no 401 is seen", async () => {
    let vault = OLD;
    let asked = 0;
    const { sender, statuses } = await over(() => {
      asked += 1;
      return vault;
    }, [NEW, OLD]);
    expect(asked).toBe(0);
    await sender.send(payload);
    vault = NEW;
    await sender.send(payload);
    expect([asked, statuses]).toEqual([2, [200, 200]]);
  });

  it("may be two, of which the sender finds the one that the listener takes, and keeps to it", async () => {
    let vault: string | string[] = [NEW, OLD];
    const { sender, statuses } = await over(async () => vault, [OLD]);
    await sender.send(payload);
    await sender.send(payload);
    expect(statuses).toEqual([401, 200, 200]);
    vault = OLD;
    await sender.send(payload);
    expect(statuses).toEqual([401, 200, 200, 200]);
  });

  it("is tried again where the vault failed, and nothing was sent meanwhile", async () => {
    let calls = 0;
    const { sender, statuses } = await over(async () => {
      calls += 1;
      if (calls < 3) throw new Error("sealed");
      return OLD;
    }, [OLD]);
    const { attempts } = await sender.send(payload);
    expect(attempts.map(({ code }) => code)).toEqual(["SIGNER_FAILED", "SIGNER_FAILED", undefined]);
    expect(statuses).toEqual([200]);
  });

  it.each([
    ["is nothing", () => undefined as never, "SIGNER_FAILED"],
    ["is a list of none", () => [], "SIGNER_FAILED"],
    ["is empty", () => "", "SECRET_INVALID"],
    [
      "throws at once",
      () => {
        throw new Error("no vault");
      },
      "SIGNER_FAILED",
    ],
  ])("that %s fails the attempt, and is not sent", async (_, secret, code) => {
    const { sender } = await over(secret, [OLD], { retry: { maxAttempts: 1 } });
    const result = await sender.trySend(payload);
    expect(result).toMatchObject({ ok: false, attempts: [{ code }] });
    expect(server.requests).toHaveLength(0);
  });

  it("that never comes takes the attempt's time, and is not sent", async () => {
    const never = () => new Promise<string>(() => {});
    const { sender } = await over(never, [OLD], { attemptTimeoutMs: 50, retry: { maxAttempts: 1 } });
    expect(await sender.trySend(payload)).toMatchObject({ ok: false, attempts: [{ code: "TIMED_OUT" }] });
    expect(server.requests).toHaveLength(0);
  });

  it("signs a single request by the first of them", async () => {
    const { statuses } = await over(OLD, [NEW]);
    const signer = hmacSigner({ secret: async () => [NEW, OLD] });
    const { headers, body } = await signRequest({ url: server.url, signer, event: createEvent(payload) });
    await fetch(server.url, { method: "POST", headers, body });
    expect(statuses).toEqual([200]);
  });

  it("is shown by nothing", async () => {
    await over(OLD, [OLD]);
    const signer = hmacSigner({ secret: () => OLD });
    expect(inspect(signer, { depth: 5 }) + JSON.stringify(signer)).not.toContain(OLD.slice(0, 8));
  });
});

describe("a copy of a signer", () => {
  it.each<[what: string, secret: Parameters<typeof hmacSigner>[0]["secret"]]>([
    ["of two secrets", [NEW, OLD]],
    ["that asks for two", () => [NEW, OLD]],
    ["that waits for two", async () => [NEW, OLD]],
  ])("keeps every secret: %s", async (_, secret) => {
    const { statuses, sender } = await over(secret, [OLD], {
      signer: { ...hmacSigner({ secret }), warnings: [] },
    });
    await sender.send(payload);
    expect(statuses).toEqual([401, 200]);
  });

  it.each<[what: string, secret: Parameters<typeof hmacSigner>[0]["secret"]]>([
    ["of two secrets", [NEW, OLD]],
    ["that asks for two", () => [NEW, OLD]],
    ["that waits for two", async () => [NEW, OLD]],
  ])("signs with the sign that it was given, and keeps the other secret: %s", async (_, secret) => {
    let signed = 0;
    const signer = hmacSigner({ secret });
    const counted: typeof signer = {
      ...signer,
      sign(request) {
        signed += 1;
        return signer.sign(request);
      },
    };
    const { statuses, sender } = await over(secret, [OLD], { signer: counted });
    await sender.send(payload);
    expect([signed, statuses]).toEqual([1, [401, 200]]);
  });

  it.each<[what: string, alternatives: () => never]>([
    [
      "throws",
      () => {
        throw new Error("mine");
      },
    ],
    ["rejects", () => Promise.reject(new Error("mine")) as never],
  ])("fails by name where its alternatives cannot be had: it %s", async (_, alternatives) => {
    const signer = { ...hmacSigner({ secret: NEW }), alternatives };
    const { sender } = await over(NEW, [NEW], { signer, retry: { maxAttempts: 1 } });
    await expect(sender.send(payload)).rejects.toMatchObject({ attempts: [{ code: "SIGNER_FAILED" }] });
  });

  it("without alternatives signs by itself", async () => {
    const { sender, statuses } = await over(NEW, [NEW], {
      signer: { ...hmacSigner({ secret: NEW }), alternatives: () => [] },
    });
    await sender.send(payload);
    expect(statuses).toEqual([200]);
  });
});
