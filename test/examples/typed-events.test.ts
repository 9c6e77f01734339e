import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { getRequestListener } from "@hono/node-server";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createFakeReceiver } from "hookproof/testing";
import { expect, it, onTestFinished } from "vitest";
import { EXAMPLES } from "../kit/example-process.js";
import { serve } from "../kit/loopback.js";
import { SECRET } from "../kit/signed-request.js";

it("typed-events.mjs sends what fits, with its default, and prints a schema that says so", async () => {
  const fake = createFakeReceiver([], { secret: SECRET });
  const server = await serve(getRequestListener((request) => fake.handle(request)));
  onTestFinished(server.stop);
  const run = async (...words: string[]) => {
    const example = [join(EXAMPLES, "typed-events.mjs"), ...words];
    const LISTENER_URL = `${server.url}/api/v1/webhooks/incoming/lst_offboarding`;
    const env = { ...process.env, LISTENER_URL, LISTENER_SECRET: SECRET };
    return (await promisify(execFile)(process.execPath, example, { env })).stdout;
  };

  const printed = await run();
  expect(printed.split("\n")).toEqual([
    `sent ${fake.requests[0]?.eventId}`,
    'EVENT_INVALID: The payload of "user.offboarded" does not fit its schema: userId: expected string.',
    "",
  ]);
  const bodies = fake.requests.map(({ text }) => JSON.parse(text) as object);
  expect(bodies).toEqual([{ type: "user.offboarded", userId: "u_123", reason: "left" }]);

  const schemas = JSON.parse(await run("schema")) as Record<string, object>;
  expect(new Ajv2020().validate(schemas["user.offboarded"] ?? {}, bodies[0])).toBe(true);
});
