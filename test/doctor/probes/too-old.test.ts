import { runSchemeProbes, schemeProbeTarget } from "hookproof/probes";
import { generateStandardSecret } from "hookproof/standard-webhooks";
import { expect, it } from "vitest";
import { httpServer, started } from "../../kit/local-server.js";

/** A listener whose window is 1,000 seconds, so that what is an hour old is refused, and what is 10 seconds old is not. */
const WINDOW_SECONDS = 1_000;

it.each<[tooOldSeconds: number | undefined, outcome: "pass" | "fail"]>([
  [undefined, "pass"], // an hour
  [10, "fail"],
])("sends a request of the age that tooOldSeconds says: %s", async (tooOldSeconds, outcome) => {
  const ages: number[] = [];
  const { port } = await started(
    httpServer((request, response) => {
      const age = Math.floor(Date.now() / 1_000) - Number(request.headers["webhook-timestamp"]);
      ages.push(age);
      response.statusCode = age > WINDOW_SECONDS ? 401 : 204;
      request.resume().on("end", () => response.end());
    }),
  );
  const url = `http://127.0.0.1:${port}/hooks`;
  const secrets = generateStandardSecret();
  const target = await schemeProbeTarget({ scheme: "standard-webhooks", url, secrets });
  const results = [];
  const options = { only: "time-long-ago", allowTrigger: true };
  for await (const result of runSchemeProbes({ ...target, tooOldSeconds }, options)) results.push(result);
  expect(results).toMatchObject([{ id: "time-long-ago", outcome }]);
  expect(Math.max(...ages)).toBeGreaterThanOrEqual(tooOldSeconds ?? 3_600);
});
