import { createEvent, createSender, hmacSigner } from "hookproof";
import { expect, it } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";
import { runningProcesses } from "../kit/processes.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { ask, startService } from "./running-service.js";

const LIST = new Array(20_000).fill(1);
const HANGING = "ctx.trigger.list.all(a, ctx.trigger.list.all(b, true))";
const hanging = JSON.stringify({ trigger: { list: LIST } });

const evaluators = () =>
  runningProcesses().filter(
    ({ command, parent }) => parent === process.pid && command.includes("cel-process.js"),
  );

it("five automations that hang hold up none of 45 others, and nothing that is checked", async () => {
  const others = evaluators().length;
  // The five end with the test: they have longer than any test.
  const expressions = createExpressions({ timeoutMs: 600_000 });
  let settled = 0;
  const hung = Array.from({ length: 5 }, (_, index) =>
    expressions
      .values({ context: hanging, automationId: `hangs-${index}`, now: 0 }, [HANGING])
      .catch((error: Error) => error.message)
      .finally(() => settled++),
  );
  for (let round = 0; round < 4; round++) {
    const values = Array.from({ length: 45 }, (_, index) =>
      expressions.values({ context: `{"n":${index}}`, automationId: `other-${index}`, now: 0 }, ["ctx.n"]),
    );
    expect(await Promise.all(values)).toEqual(
      Array.from({ length: 45 }, (_, index) => ({ ok: true, value: [String(index)] })),
    );
    expect(await expressions.check("ctx.trigger.")).toMatchObject({ ok: false });
  }
  expect(settled).toBe(0);
  expect(evaluators().length - others).toBeLessThanOrEqual(5);
  await expressions.stop();
  expect(await Promise.all(hung)).toEqual(new Array(5).fill("The service has stopped."));
});

it("an automation that had to be ended holds up itself only, and is quick again when it is", async () => {
  const expressions = createExpressions({ timeoutMs: 1_500 });
  const evaluated = (context: string, expression: string) =>
    expressions.values({ context, automationId: "one", now: 0 }, [expression]);
  expect(await evaluated(hanging, HANGING)).toMatchObject({ failure: { code: "EXPRESSION_TIMEOUT" } });
  expect(await evaluated("{}", "1")).toEqual({ ok: true, value: ["1"] });
  expect(await evaluated("{}", "2")).toEqual({ ok: true, value: ["2"] });
  await expressions.stop();
});

it("what takes longer than most begins again, and has its value", async () => {
  const expressions = createExpressions({ timeoutMs: 600_000 });
  const context = JSON.stringify({ trigger: { list: new Array(700).fill(1) } });
  const slow = "ctx.trigger.list.all(a, ctx.trigger.list.all(b, a == b))";
  const values = [1, 2].map(() => expressions.values({ context, automationId: "slow", now: 0 }, [slow]));
  expect(await Promise.all(values)).toEqual(new Array(2).fill({ ok: true, value: ["true"] }));
  await expressions.stop();
});

it("a service runs and saves other automations while one hangs", async () => {
  const ended: string[] = [];
  const service = await startService({ onRun: ({ automationId }) => ended.push(automationId) });
  const hangs = await ownAutomation(service, {
    steps: [{ name: "a", templates: { x: `{{ ${HANGING} }}` } }],
  });
  const other = await ownAutomation(service, {
    steps: [{ name: "a", templates: { x: "{{ ctx.trigger.n }}" } }],
  });
  const send = ({ listenerUrl, signingSecret }: typeof other, body: object) =>
    createSender({ url: listenerUrl, signer: hmacSigner({ secret: signingSecret }) }).send(createEvent(body));
  await send(hangs, { list: LIST });
  for (const n of [1, 2, 3]) await send(other, { n });
  const runs = await endedRuns(service, other.id, 3);
  expect(runs.map(({ steps }) => steps[0]?.result)).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }]);
  const saved = await ask(service, "PUT", `/local/v1/automations/${other.id}`, {
    body: { trigger: { hmac: {} }, steps: [{ name: "a", templates: { x: "{{ ctx.trigger.m }}" } }] },
  });
  expect(saved.status).toBe(200);
  expect(ended).toEqual([other.id, other.id, other.id]);
});
