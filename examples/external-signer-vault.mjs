// The vault of external-signer.mjs: makes a key that never leaves this process, tells its public half, and signs
// the bytes it is sent. A key service answers in the same form: ECDSA signatures in DER.
import { createSign, generateKeyPairSync } from "node:crypto";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

process.on("message", ({ number, bytes }) => {
  process.send({ number, signature: createSign("sha256").update(bytes).sign(privateKey) });
});
process.on("disconnect", () => process.exit());
process.send({ publicJwk: publicKey.export({ format: "jwk" }) });
