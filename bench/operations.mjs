// The operations whose processor time is compared and profiled, by the build in whose folder this file lies.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Where send-receiver.mjs listens. */
const port = process.argv[3] ?? "";
const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_bench`;
const secret = Buffer.alloc(32, 7).toString("base64url");
const payload = {
  type: "user.offboarded",
  user: {
    id: "u_123",
    name: "Ada Lovelace",
    groups: ["staff", "finance", "on-call"],
    manager: { id: "u_7" },
  },
  changes: Array.from({ length: 8 }, (_, n) => ({ field: `attribute_${n}`, from: n, to: n + 1 })),
  note: "x".repeat(250),
};
const IN_FLIGHT = 50;
const EACH = 20;

/** Many in flight, each worker one after the other. */
const inFlight = (work) => async () => {
  const worker = async () => {
    for (let i = 0; i < EACH; i++) await work();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
};

/**
 * What one call of each does, and how many operations that counts for.
 *
 * @type {Record<string, () => Promise<[work: () => unknown, perCall: number]>>}
 */
export const operations = {
  async send() {
    const { createSender, hmacSigner } = await import("hookproof");
    const sender = createSender({ url, signer: hmacSigner({ secret }) });
    return [inFlight(() => sender.send(payload)), IN_FLIGHT * EACH];
  },
  async sendMany() {
    const { createSender, hmacSigner } = await import("hookproof");
    const sender = createSender({ url, signer: hmacSigner({ secret }) });
    const many = Array.from({ length: IN_FLIGHT * EACH }, () => payload);
    const work = async () => {
      for await (const { ok, error } of sender.sendMany(many, { concurrency: IN_FLIGHT }))
        if (!ok) throw error;
    };
    return [work, many.length];
  },
  async sign() {
    const { createEvent, hmacSigner, signRequest } = await import("hookproof");
    const signer = hmacSigner({ secret });
    return [inFlight(() => signRequest({ url, signer, event: createEvent(payload) })), IN_FLIGHT * EACH];
  },
  async enqueue() {
    const outbox = await outboxes();
    const many = Array.from({ length: 500 }, () => ({ listener: "a", payload }));
    return [() => outbox().enqueue(many), many.length];
  },
  async deliver() {
    const outbox = await outboxes();
    const many = Array.from({ length: 1_000 }, () => ({ listener: "a", payload }));
    const work = async () => {
      const fresh = outbox();
      await fresh.enqueue(many);
      await fresh.drain();
    };
    return [work, many.length];
  },
  async verify() {
    const { createReceiver } = await import("hookproof/receiver");
    const { request, eventId } = await signed();
    const auth = { method: "hmac", secret };
    const receiver = createReceiver({ listener: { id: "lst_bench", baseUrl: new URL(url).origin, auth } });
    const work = async () => {
      const { ok } = await receiver.verify(request);
      if (!ok) throw new Error(eventId);
    };
    return [inFlight(work), IN_FLIGHT * EACH];
  },
  async accept() {
    const { createEvent, hmacSigner, signRequest } = await import("hookproof");
    const { createReceiver, memoryReplayStore } = await import("hookproof/receiver");
    const signer = hmacSigner({ secret });
    const listener = { id: "lst_bench", baseUrl: new URL(url).origin, auth: { method: "hmac", secret } };
    const work = async () => {
      // Each id is accepted once, so all are new: signing is a small part, and the same in both builds.
      const receiver = createReceiver({ listener, replayStore: memoryReplayStore() });
      const accept = async () => {
        const { method, headers, body } = await signRequest({ url, signer, event: createEvent(payload) });
        const { status } = await receiver.receive({ method, url, headers, body }, () => undefined);
        if (status !== 200) throw new Error(`answered ${status}`);
      };
      await inFlight(accept)();
    };
    return [work, IN_FLIGHT * EACH];
  },
  async start() {
    const run = promisify(execFile);
    const program = [process.execPath, ["--input-type=module", "-e", START], { cwd: import.meta.dirname }];
    const work = async () => Number((await run(...program)).stdout);
    return [work, 1];
  },
  async diagnose() {
    const { diagnose } = await import("hookproof/diagnose");
    const { request } = await signed();
    const wrong = Buffer.alloc(32, 9).toString("base64url");
    return [() => diagnose({ request, secret: wrong }), 1];
  },
};

/** A process that imports the library and signs once, and tells what that cost it. */
const START = `import { createEvent, hmacSigner, signRequest } from "hookproof";
  await signRequest({ url: "${url}", signer: hmacSigner({ secret: "${secret}" }), event: createEvent({}) });
  const { user, system } = process.cpuUsage();
  console.log(user + system);`;

/** A signed request as a server receives it. */
async function signed() {
  const { createEvent, hmacSigner, signRequest } = await import("hookproof");
  const { method, headers, body, eventId } = await signRequest({
    url,
    signer: hmacSigner({ secret }),
    event: createEvent(payload),
  });
  return { request: { method, url, headers, body }, eventId };
}

/** Outboxes in memory, each new, so that none grows over the rounds. */
async function outboxes() {
  const { hmacSigner } = await import("hookproof");
  const { createOutbox, memoryStore } = await import("hookproof/outbox");
  const listeners = { a: { url, signer: hmacSigner({ secret }) } };
  return () => createOutbox({ store: memoryStore(), listeners });
}
