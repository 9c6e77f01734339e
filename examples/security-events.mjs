// Sends a security event token and receives it, in one process: a key store, its key set over HTTP, a receiver that fetches
// the key set, and a sender.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSender } from "hookproof";
import { createKeySet, remoteKeys } from "hookproof/jwks";
import { openKeyStore, toJwksListener, toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { CAEP, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";

const issuer = "https://idp.example.com/";
const audience = "https://receiver.example.com/";

const folder = mkdtempSync(join(tmpdir(), "security-events-"));
const keyStore = openKeyStore(folder);
await keyStore.generate({ alg: "ES256" });
const keySet = createKeySet(keyStore);
const jwksUrl = await listen(toJwksListener(keySet));

const receiver = createReceiver({
  verifier: securityEventVerifier({
    issuer,
    audience,
    keys: remoteKeys(jwksUrl, { allowInsecureLoopback: true, allowedCidrs: ["127.0.0.0/8"] }),
  }),
});
const url = await listen(
  toNodeListener(receiver, async ({ payload }) => {
    const revoked = payload.events[CAEP.sessionRevoked];
    if (revoked)
      console.log(`received: sign out ${payload.sub_id.sub}, because of ${revoked.initiating_entity}`);
  }),
);

const event = securityEvent(
  CAEP.sessionRevoked,
  { initiating_entity: "policy", event_timestamp: Math.floor(Date.now() / 1000) },
  { sub_id: { format: "iss_sub", iss: issuer, sub: "u_123" } },
);
const send = async (to) => {
  const signer = securityEventSigner({ issuer, audience: to, key: () => keySet.signingKey("ES256") });
  const result = await createSender({ url, signer }).trySend(event);
  console.log(result.ok ? `sent to ${to}` : `refused. ${result.error.hint}`);
};
await send(audience);
await send("https://other.example.com/");

rmSync(folder, { recursive: true });
process.exit();

async function listen(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}/`;
}
