import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSender, jwtSigner } from "hookproof";
import { createKeySet, remoteKeys } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { startListeners } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import { EXAMPLES } from "../kit/example-process.js";
import { serve } from "../kit/loopback.js";

it("jwks-static-host.mjs writes what a static host serves, and a listener finds the key there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-static-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, KEY_STORE: join(folder, "keys"), PUBLIC_FOLDER: join(folder, "public") };
  const program = [join(EXAMPLES, "jwks-static-host.mjs")];
  const write = () => execFileSync(process.execPath, program, { env, encoding: "utf8" });
  expect(write()).toBe("/.well-known/jwks.json public, max-age=300\n");
  const written = readFileSync(join(folder, "public/.well-known/jwks.json"), "utf8");
  expect(written).not.toContain('"d"');
  write();
  expect(readFileSync(join(folder, "public/.well-known/jwks.json"), "utf8")).toBe(written);
  expect(readdirSync(join(folder, "public")).sort()).toEqual([".well-known", "_headers"]);

  const host = await serve((request, response) => {
    response.setHeader("Content-Type", "application/jwk-set+json");
    response.end(readFileSync(join(folder, "public", request.url ?? "")));
  });
  onTestFinished(host.stop);
  const keys = remoteKeys(`${host.url}/.well-known/jwks.json`, { allowInsecureLoopback: true });
  const listeners = await startListeners({
    listeners: (baseUrl) => [{ listener: { id: "lst_1", baseUrl, auth: { method: "jwt", keys } } }],
  });
  onTestFinished(() => listeners.stop());
  const keySet = createKeySet(openKeyStore(env.KEY_STORE));
  const sender = createSender({
    url: `${listeners.url}/api/v1/webhooks/incoming/lst_1`,
    signer: jwtSigner(() => keySet.signingKey("ES256")),
  });
  expect(await sender.send({ userId: "u_1" })).toMatchObject({ outcome: "accepted" });
});

it("every example is in the list", () => {
  const list = readFileSync(join(EXAMPLES, "README.md"), "utf8");
  const names = readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter(
    (name) => /^(?!orm\/).*\.[a-z]+$/.test(name), // those of ORMs have packages, and a guide, of their own
  );
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => name !== "README.md" && !list.includes(`(${name})`))).toEqual([]);
});
