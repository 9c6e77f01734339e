import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { runCertificates } from "../../test/kit/certificates.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { PublishedClient } from "../../test/service/published-client.js";
import { run } from "../src/main.js";

/** What `service token` prints, in the hands of a client that nobody here wrote. */

async function hookproof(
  home: string,
  ...argv: string[]
): Promise<{ exit: number; said: string; told: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const env = { HOOKPROOF_HOME: home, NO_COLOR: "1" };
  const stopSignal = new AbortController().signal;
  const exit = await run(argv, { stdin: Readable.from([]), stdout, stderr, env, stopSignal });
  stdout.end();
  stderr.end();
  return { exit, said: await text(stdout), told: await text(stderr) };
}

/** A service of the command line, which ends with the test. */
async function startedService(...flags: string[]) {
  const folder = temporaryFolder("credentials");
  const [db, home] = [join(folder, "service.db"), join(folder, "home")];
  const stop = new AbortController();
  const stdout = new PassThrough();
  const ended = run(["service", "start", "--port", "0", "--no-ui", "--users", "2", "--db", db, ...flags], {
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough(),
    env: { HOOKPROOF_HOME: home, NO_COLOR: "1" },
    stopSignal: stop.signal,
  });
  const [line] = (await once(stdout, "data")) as [Buffer];
  const url = line.toString().trim();
  return {
    url,
    ask: (...command: string[]) => hookproof(home, ...command, "--db", db),
    token: (...flags: string[]) =>
      hookproof(home, "service", "token", "--db", db, "--base-url", url, ...flags),
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

const AUDIT = "/api/v1/search/secrets-admin/audit_events";

it("the published client takes what `service token --sdk` prints", async () => {
  const service = await startedService();
  for (const [issuer, flags] of [
    ["127.0.0.1", []],
    ["tenant.example.com", ["--issuer", "tenant.example.com"]],
  ] as const) {
    const { exit, said } = await service.token("--sdk", ...flags);
    const [, id = "", secret = ""] = /^CLIENT_ID=(.+)\nCLIENT_SECRET=(.+)\n$/.exec(said) ?? [];
    expect([exit, id]).toEqual([0, expect.stringMatching(/^sdk-\d{5}@127\.0\.0\.1:\d+\/pcc$/)]);
    expect(secret).toContain(`secret-token:${issuer}:v1:`);
    const client = new PublishedClient(service.url, id, secret, Date.now);
    expect([await client.call("POST", AUDIT, { pageSize: 10 }), client.refused]).toEqual([200, []]);
  }
  await service.stop();
});

it("`service token --role member` is a token of a client that is no Super Admin", async () => {
  const service = await startedService();
  const statusOf = async (token: string) => {
    const headers = { Authorization: `Bearer ${token.trim()}`, "Content-Type": "application/json" };
    return (await fetch(service.url + AUDIT, { method: "POST", headers, body: "{}" })).status;
  };
  expect(await statusOf((await service.token()).said)).toBe(200);
  expect(await statusOf((await service.token("--role", "super-admin")).said)).toBe(200);
  const { exit, said } = await service.token("--role", "member");
  expect([exit, await statusOf(said)]).toEqual([0, 403]);
  const sdk = await service.token("--sdk", "--role", "member", "--json");
  const { clientId, clientSecret } = JSON.parse(sdk.said);
  const client = new PublishedClient(service.url, clientId, clientSecret, Date.now);
  expect(await client.call("POST", AUDIT, {})).toBe(403);
  expect((await service.token("--role", "owner")).exit).toBe(2);
  expect((await service.token("--role", "member", "--client-id", "local-admin")).exit).toBe(2);
  expect((await service.token("--role", "member", "--as-user", "nobody")).exit).toBe(4);
  expect((await service.token("--as-user", "nobody")).exit).toBe(2);
  await service.stop();
});

it("the commands of the service trust its certificate by --ca, and say so without it", async () => {
  const { ca, server } = runCertificates();
  const files = temporaryFolder("certificates");
  const [caFile, cert, key] = [join(files, "ca.pem"), join(files, "cert.pem"), join(files, "key.pem")];
  writeFileSync(caFile, ca);
  writeFileSync(cert, server.cert);
  writeFileSync(key, server.key, { mode: 0o600 });
  const service = await startedService("--tls-cert", cert, "--tls-key", key);
  const at = ["--base-url", service.url.replace("127.0.0.1", "localhost")];
  for (const command of [
    ["service", "token"],
    ["service", "token", "--sdk"],
    ["service", "clock"],
    ["service", "journal"],
    ["service", "reset", "--yes", "--all"],
  ]) {
    const { exit, told } = await service.ask(...command, ...at);
    expect([command, exit, told]).toEqual([command, 6, expect.stringContaining("error[TLS_FAILED]")]);
    expect(told).toContain("--ca <file>");
    expect([command, (await service.ask(...command, ...at, "--ca", caFile)).exit]).toEqual([command, 0]);
  }
  expect((await service.ask("service", "clock", ...at, "--insecure")).exit).toBe(0);
  await service.stop();
});
