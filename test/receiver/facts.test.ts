// A failed check says what was wrong with the request, and not what holds for others.
import { describeCode, errorCodes } from "hookproof/diagnose";
import { CHECKS, createReceiver } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { factOf } from "../../src/core/facts.js";
import { BASE_URL, clock, SECRET } from "../kit/hostile-target.js";
import { LISTENER_ID, signed } from "./received.js";

const ANSWERS = errorCodes().filter((code) => describeCode(code)?.status !== undefined);

describe("what is said of a failed check", () => {
  it.each(ANSWERS)("%s is a sentence in the past, and no rule", (code) => {
    const fact = factOf(code as never, "the rule");
    expect(fact).toMatch(/^[A-Z].*\.$/);
    const [said = ""] = fact.split(": the rule");
    expect(said).toMatch(/\b(?:was|were|had|came|ended|named|could)\b/);
    expect(said).not.toMatch(/\b(?:must|should|needs?|may|shall)\b/);
  });

  it("is the fact in verdict, detail and answer: the event id was processed before", async () => {
    const receiver = createReceiver({
      listener: { id: LISTENER_ID, baseUrl: BASE_URL, auth: { method: "hmac", secret: SECRET } },
      clock,
    });
    const request = signed();
    const run = async () => undefined;
    await receiver.receive(request, run);
    const { verdict: copy, body } = await receiver.receive(request, run);
    expect(JSON.parse(String(body))).toMatchObject({ code: "EVENT_DUPLICATE" });
    expect(copy).toMatchObject({ ok: false, detail: "The event id was processed before." });
    expect(copy.checks.at(-1)).toEqual({
      step: "replay",
      ok: false,
      code: "EVENT_DUPLICATE",
      rule: CHECKS.find(({ step }) => step === "replay")?.rule,
      fact: "The event id was processed before.",
    });
    const unsigned = { ...request, headers: { "Webhook-Timestamp": "x" } };
    expect((await receiver.verify(unsigned)) as object).toMatchObject({
      detail:
        'The timestamp had another form than demanded: Webhook-Timestamp is one Unix time in whole seconds. Received "x".',
    });
  });
});
