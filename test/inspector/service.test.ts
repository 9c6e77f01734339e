import { hmacSigner } from "hookproof";
import { createInspector, createService } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import { endedRuns, ownAutomation } from "../service/own-automation.js";
import { postTo } from "./inspected.js";

it("shows what a whole service receives, with the automation's run", async () => {
  const inspector = await createInspector();
  const service = await createService({ inspector });
  onTestFinished(async () => {
    await service.stop();
    inspector.close();
  });
  const automation = await ownAutomation(service, {
    displayName: "Offboarding",
    published: true,
    enabled: true,
    steps: [{ name: "note", templates: { user: "{{ ctx.trigger.userId }}" } }],
  });
  const signer = hmacSigner({ secret: automation.signingSecret });
  await postTo(automation.listenerUrl, { signer, payload: { userId: "u_1" } });
  await endedRuns(service, automation.id);
  expect((await inspector.detail(1))?.run).toMatchObject({
    automation: "Offboarding",
    state: "succeeded",
    steps: [{ name: "note", state: "succeeded", output: '{"user":"u_1"}' }],
  });
  expect(inspector.session().listeners.map(({ id }) => id)).toEqual([automation.listenerId]);
  expect(await inspector.replay(1, { kind: "same-id" })).toMatchObject({ status: 409 });
});
