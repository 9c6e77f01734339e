import { createEvent, createSender, hmacSigner } from "hookproof";
import { expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { startService } from "./running-service.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const [AUTOMATIONS, HANGING] = [50, 5];
/** Each of them takes its five seconds, so that the five are busy for the whole of the run. */
const EVENTS_THAT_HANG = 12;
const ROUNDS = 3;
const EVENTS_A_ROUND = 500;
const EVERY_MS = 20;

const LIST = new Array(20_000).fill(1);
const HANGS = "ctx.trigger.list.all(a, ctx.trigger.list.all(b, true))";

const automations = Array.from({ length: AUTOMATIONS }, (_, n) => ({
  id: `auto-${n}`,
  listenerId: `lst-${n}`,
  signingSecret: SECRET,
  trigger: { hmac: {} },
  steps: [{ name: "a", templates: { x: n < HANGING ? `{{ ${HANGS} }}` : "{{ ctx.trigger.n }}" } }],
}));

/** From the first byte of an event to the end of its run; events come every 20 ms, whatever became of the last one. */
itWith("HOOKPROOF_LONG=1", process.env.HOOKPROOF_LONG === "1")(
  "of 50 automations five hang, and the p99 of the others is at most twice what it is alone",
  async () => {
    const waiting = new Map<string, (status: string) => void>();
    const ended = new Map<string, number>();
    const service = await startService({
      fixture: { automations },
      validateAnswers: false,
      onRun({ automationId, eventId, status }) {
        ended.set(automationId, (ended.get(automationId) ?? 0) + 1);
        waiting.get(eventId)?.(status);
      },
    });
    const senders = automations.map(({ listenerId }) =>
      createSender({
        url: `${service.url}/api/v1/webhooks/incoming/${listenerId}`,
        signer: hmacSigner({ secret: SECRET }),
      }),
    );
    const send = (n: number, payload: object, eventId?: string) =>
      senders[n]?.send(createEvent(payload, { eventId }));

    async function timeOf(n: number): Promise<number> {
      const eventId = crypto.randomUUID();
      const run = new Promise<string>((resolve) => waiting.set(eventId, resolve));
      const begun = performance.now();
      await send(n, { n }, eventId);
      expect(await run).toBe("RUN_STATUS_SUCCEEDED");
      waiting.delete(eventId);
      return performance.now() - begun;
    }
    async function p99(): Promise<number> {
      const times: Promise<number>[] = [];
      for (let sent = 0; sent < EVENTS_A_ROUND; sent++) {
        times.push(timeOf(HANGING + (sent % (AUTOMATIONS - HANGING))));
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }
      const sorted = (await Promise.all(times)).sort((a, b) => a - b);
      return sorted[Math.floor(EVENTS_A_ROUND * 0.99)] as number;
    }

    await p99(); // the processes start, and every automation has run once
    const alone: number[] = [];
    for (let round = 0; round < ROUNDS; round++) alone.push(await p99());
    for (let n = 0; n < HANGING; n++)
      for (let event = 0; event < EVENTS_THAT_HANG; event++) await send(n, { list: LIST });
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round++) beside.push(await p99());

    const hung = automations.slice(0, HANGING).reduce((sum, { id }) => sum + (ended.get(id) ?? 0), 0);
    expect(hung).toBeLessThan(HANGING * EVENTS_THAT_HANG);
    const shown = (all: number[]) => all.map((ms) => ms.toFixed(1)).join(", ");
    console.info(`p99 in ms, alone: ${shown(alone)}; next to five that hang: ${shown(beside)}`);
    const median = (all: number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] as number;
    expect(median(beside)).toBeLessThanOrEqual(2 * median(alone));
  },
);
