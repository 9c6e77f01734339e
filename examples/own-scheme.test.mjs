// The contract of a scheme, run with node:test on the scheme of own-scheme.mjs, and one event sent and received by it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { createSender } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { schemeContract } from "hookproof/testing";
import { acmeSigner, acmeVerifier } from "./own-scheme.mjs";

const subject = {
  signer: acmeSigner({ secret: "a secret of both sides" }),
  verifier: acmeVerifier({ secret: "a secret of both sides" }),
  otherSigner: acmeSigner({ secret: "another secret" }),
};

for (const { name, run } of schemeContract) test(name, () => run(subject));

test("an event goes over HTTP", async () => {
  const received = [];
  const receiver = createReceiver({ verifier: subject.verifier });
  const server = createServer(toNodeListener(receiver, async ({ payload }) => received.push(payload)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/webhooks`;
  await createSender({ url, signer: subject.signer }).send({ type: "invoice.paid" });
  server.close();
  assert.deepEqual(received, [{ type: "invoice.paid" }]);
});
