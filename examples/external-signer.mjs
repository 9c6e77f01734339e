// Signs with a key that never enters this process: a child process holds it, as a KMS, an HSM or a vault would.
// Run it after `npm run build`: node examples/external-signer.mjs
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createSender, jwtSigner } from "hookproof";
import { localKeys } from "hookproof/jwks";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";

const vault = fork(new URL("external-signer-vault.mjs", import.meta.url), { serialization: "advanced" });
const [{ publicJwk }] = await once(vault, "message");
const kid = "vault-2026-01";

/** Asks the vault to sign; many questions may be open at once. */
const open = new Map();
let asked = 0;
vault.on("message", ({ number, signature }) => {
  open.get(number)?.(signature);
  open.delete(number);
});
const signInVault = (bytes) =>
  new Promise((resolve) => {
    asked += 1;
    open.set(asked, resolve);
    vault.send({ number: asked, bytes });
  });

// A listener that trusts the vault's public key, here in the same process.
const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const keys = localKeys({ keys: [{ ...publicJwk, kid, alg: "ES256", use: "sig" }] });
const receiver = createReceiver({ listener: { id: "lst_1", baseUrl, auth: { method: "jwt", keys } } });
server.on(
  "request",
  toNodeListener(receiver, async ({ payload }) => console.log("ran for", payload.userId)),
);

const sender = createSender({
  url: `${baseUrl}/api/v1/webhooks/incoming/lst_1`,
  signer: jwtSigner({ key: signInVault, kid, alg: "ES256" }),
});
for await (const result of sender.sendMany([{ userId: "u_1" }, { userId: "u_2" }, { userId: "u_3" }])) {
  console.log(result.ok ? result.outcome : result.code);
}

vault.disconnect();
server.close();
server.closeAllConnections();
