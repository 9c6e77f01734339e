import { expect, it } from "vitest";
import { outboxBench } from "./bench-outbox.js";

/** The texts of accepted bodies, in the order of their acceptance. */
async function recording(
  bench: ReturnType<typeof outboxBench>,
  fails: (body: string, copy: number) => number | undefined,
) {
  const accepted: string[] = [];
  const copies = new Map<string, number>();
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      await new Promise((resolve) => request.on("end", resolve));
      const body = Buffer.concat(chunks).toString();
      const copy = (copies.get(body) ?? 0) + 1;
      copies.set(body, copy);
      const status = fails(body, copy);
      if (status === undefined) accepted.push(body);
      response.writeHead(status ?? 200).end();
      void receive;
    },
  });
  return { server, accepted };
}

const ofKey = (orderingKey: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ listener: "a", payload: `"${orderingKey}${n}"`, orderingKey }));

it("events of a key arrive in their order, whatever fails and however often", async () => {
  const bench = outboxBench();
  // Each event fails up to three times, in a way that depends on its text alone.
  const { server, accepted } = await recording(bench, (body, copy) =>
    copy <= (body.charCodeAt(1) + body.charCodeAt(2)) % 4 ? [500, 503, 429][copy % 3] : undefined,
  );
  const outbox = bench.outbox({ a: bench.listener(server, { breaker: false }) });
  const keys = ["a", "b", "c", "d"];
  await outbox.enqueue(keys.flatMap((key) => ofKey(key, 8)));
  outbox.start();
  await bench.passUntil(() => accepted.length === 32);
  for (const key of keys)
    expect(accepted.filter((body) => body[1] === key)).toEqual(ofKey(key, 8).map(({ payload }) => payload));
});

it.each<["continue" | "block", string[]]>([
  ["continue", ['"k0"', '"k2"', '"k3"']],
  ["block", ['"k0"']],
])("a dead letter in the middle: %s", async (onDead, wanted) => {
  const bench = outboxBench();
  let mended = false;
  const { server, accepted } = await recording(bench, (body) =>
    body === '"k1"' && !mended ? 400 : undefined,
  );
  const outbox = bench.outbox({ a: bench.listener(server, { onDead }) });
  await outbox.enqueue(ofKey("k", 4));
  await outbox.drain();
  expect(accepted).toEqual(wanted);
  mended = true;
  expect(await outbox.redrive({}, { dryRun: true })).toEqual({ redriven: 1, pastWindow: 0 });
  expect(await outbox.redrive({}, { place: "kept" })).toEqual({ redriven: 1, pastWindow: 0 });
  await outbox.drain();
  expect(accepted).toEqual(onDead === "block" ? ['"k0"', '"k1"', '"k2"', '"k3"'] : [...wanted, '"k1"']);
});
