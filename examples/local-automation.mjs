// An automation in a local service: sends it an event and prints what its steps gave.
import { createSender, generateSecret, hmacSigner } from "hookproof";
import { createService } from "hookproof-service";

const signingSecret = generateSecret();
let tellOfRun;
const ended = new Promise((resolve) => {
  tellOfRun = resolve;
});

const service = await createService({
  fixture: {
    automations: [
      {
        listenerId: "lst_offboarding",
        signingSecret,
        trigger: { hmac: {} },
        steps: [
          { name: "user", templates: { email: "{{ ctx.trigger.user.email.lowerAscii() }}" } },
          {
            name: "tell_manager",
            condition: "has(ctx.trigger.user.manager)",
            templates: { to: "{{ ctx.trigger.user.manager }}", text: "{{ ctx.user.email }} has left." },
          },
          {
            name: "close",
            templates: { text: "Closed {{ ctx.user.email }}", days: "{{ ctx.trigger.days }}" },
          },
        ],
      },
    ],
  },
  onRun: (run) => tellOfRun(run),
});

const sender = createSender({
  url: `${service.url}/api/v1/webhooks/incoming/lst_offboarding`,
  signer: hmacSigner({ secret: signingSecret }),
});
const { outcome } = await sender.send({ user: { email: "Ada@Example.com" }, days: 30 });
console.log(outcome);

const run = await ended;
for (const { name, status, result } of run.results) console.log(name, status, result);
await service.stop();
