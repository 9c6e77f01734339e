import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificates } from "../../test/http/certificates.js";
import { connectProxy, type LocalServer } from "../../test/http/local-server.js";
import { openStage, requireBuild, type Stage } from "../../test/support/transcript.js";

const asked: string[] = [];
let stage: Stage;
let proxy: LocalServer;
let url: string;

beforeAll(async () => {
  requireBuild();
  const { ca, server } = makeCertificates();
  stage = await openStage();
  const file = (name: string, content: string) =>
    writeFileSync(join(stage.folder, "work", name), content, { mode: 0o600 });
  file("ca.pem", ca);
  file("cert.pem", server.cert);
  file("key.pem", server.key);
  file("secret.txt", "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE");
  proxy = await connectProxy(asked);
  const [listening = ""] = await stage.run(
    "hookproof listen --tls-cert cert.pem --tls-key key.pem --secret-file secret.txt &",
  );
  url = listening.replace("127.0.0.1", "localhost");
});
afterAll(async () => {
  await stage.close();
  await proxy.stop();
});

const send = (flags: string, environment = "") =>
  stage.run(
    `${environment} hookproof send ${url} --secret-file secret.txt --data 1 --retries 0 --quiet ${flags} >/dev/null; echo $?`,
  );

describe("TLS and proxies", () => {
  it("trusts a listener by --ca, and nobody without it", async () => {
    expect(await send("--ca ca.pem")).toEqual(["0"]);
    expect(await send("")).toEqual(["6", expect.stringMatching(/^! error\[TLS_FAILED\]/)]);
  });

  it("leaves the check out with --insecure, on loopback", async () => {
    expect(await send("--insecure")).toEqual(["0"]);
  });

  it("goes through HTTPS_PROXY with the listener's certificate still checked, and past it by NO_PROXY", async () => {
    const through = `HTTPS_PROXY=http://127.0.0.1:${proxy.port}`;
    expect(await send("--ca ca.pem", through)).toEqual(["0"]);
    expect(asked).toEqual([expect.stringMatching(/^CONNECT localhost:\d+ HTTP\/1\.1$/)]);
    expect((await send("", through))[0]).toBe("6");
    expect(asked).toHaveLength(2);
    expect(await send("--ca ca.pem", `${through} NO_PROXY=localhost`)).toEqual(["0"]);
    expect(asked).toHaveLength(2);
  });
});
