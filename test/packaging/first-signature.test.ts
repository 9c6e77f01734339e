import { generateKeyPairSync } from "node:crypto";
import { statSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { type Loaded, loadedBy } from "../kit/loaded-by.js";
import { requireBuild } from "../kit/transcript.js";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwtKey = JSON.stringify({ key: privateKey.export({ format: "jwk" }), kid: "one", alg: "ES256" });
const IMPORTS = 'import { createEvent, createSender, hmacSigner, jwtSigner, signRequest } from "hookproof";';
const HMAC = 'hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" })';
const NETWORK = /^(?:_http|_tls|undici)/;
const URL_OF_NOBODY = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";

beforeAll(requireBuild);

// A function that was just started waits for this. Files cost more than bytes: at the first measurement it read 63 of
// them, and loaded Node's HTTP and TLS.
describe("the first signature of a process", () => {
  it.each([
    ["by HMAC", HMAC],
    ["with a token", `jwtSigner(${jwtKey})`],
  ])("%s reads 4 files of ours, 165 kB at most, and no other package", (_, signer) => {
    const { files, imported, ofNode } = loadedByProgram(`${IMPORTS}
      const event = createEvent({ userId: "u_1" });
      await signRequest({ url: "${URL_OF_NOBODY}", signer: ${signer}, event });`);
    expect(files.filter((file) => !/\/dist\/[^/]+\.js$/.test(file))).toEqual([]);
    expect(files).toHaveLength(4);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(165_000);
    expect([...imported].sort()).toEqual(["node:crypto", "node:diagnostics_channel", "node:timers"]);
    expect(ofNode.filter((name) => NETWORK.test(name))).toEqual([]);
  });

  it("loads Node's HTTP and TLS when something is sent, and no more files", () => {
    const { files, imported, ofNode } = loadedByProgram(`${IMPORTS}
      const sender = createSender({ url: "${URL_OF_NOBODY}", signer: ${HMAC}, retry: { maxAttempts: 1 } });
      await sender.trySend({ userId: "u_1" });`);
    expect(files).toHaveLength(4);
    expect(imported).toEqual(expect.arrayContaining(["node:http", "node:https"]));
    expect(ofNode).toEqual(expect.arrayContaining(["_http_client", "_tls_wrap"]));
  });
});

/** What a program loads. */
function loadedByProgram(program: string): Loaded {
  return loadedBy(["--input-type=module", "-e", program], import.meta.dirname);
}
