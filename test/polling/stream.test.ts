import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { securityEventStream } from "hookproof/set/polling";
import { expect, it, onTestFinished } from "vitest";
import { runCertificates } from "../kit/certificates.js";
import { httpServer, httpsServer } from "../kit/local-server.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const CONFIGURATION = {
  issuer: "https://tr.example.com/tenant1",
  status_endpoint: "https://tr.example.com/ssf/status",
  verification_endpoint: "https://tr.example.com/ssf/verify",
};

type Transport = NonNullable<Parameters<typeof securityEventStream>[0]["transport"]>;

/** A transmitter as a function, and what it was asked. */
function streamAt(answer: (method: string, url: string, body: unknown) => [status: number, body?: unknown]) {
  const asked: unknown[][] = [];
  const transport: Transport = async ({ method, url, body }) => {
    const sent = body && JSON.parse(new TextDecoder().decode(body));
    asked.push(sent ? [method, url, sent] : [method, url]);
    const [status, given] = answer(method, url, sent);
    const bytes = new TextEncoder().encode(given === undefined ? "" : JSON.stringify(given));
    return { status, headers: [], body: bytes, truncated: false };
  };
  const own = { issuer: CONFIGURATION.issuer, streamId: "f67e39a0", authorization: "Bearer a", transport };
  return { stream: securityEventStream(own), asked };
}

it("reads and changes the status, and asks for a verification, as the framework says", async () => {
  const { stream, asked } = streamAt((method, url, body) => {
    if (url.includes(".well-known")) return [200, CONFIGURATION];
    if (url.includes("verify")) return [204];
    return [
      200,
      method === "GET"
        ? { stream_id: "f67e39a0", status: "paused", reason: "SYSTEM_DOWN_FOR_MAINTENANCE" }
        : body,
    ];
  });
  expect(await stream.status()).toEqual({ status: "paused", reason: "SYSTEM_DOWN_FOR_MAINTENANCE" });
  expect(await stream.setStatus("enabled", "It is over.")).toEqual({
    status: "enabled",
    reason: "It is over.",
  });
  expect(await stream.setStatus("disabled")).toEqual({ status: "disabled" });
  await stream.verify("VGhpcyBpcyBhbiBleGFtcGxl");
  await stream.verify();
  expect(asked).toEqual([
    ["GET", "https://tr.example.com/.well-known/ssf-configuration/tenant1"],
    ["GET", "https://tr.example.com/ssf/status?stream_id=f67e39a0"],
    [
      "POST",
      "https://tr.example.com/ssf/status",
      { stream_id: "f67e39a0", status: "enabled", reason: "It is over." },
    ],
    ["POST", "https://tr.example.com/ssf/status", { stream_id: "f67e39a0", status: "disabled" }],
    [
      "POST",
      "https://tr.example.com/ssf/verify",
      { stream_id: "f67e39a0", state: "VGhpcyBpcyBhbiBleGFtcGxl" },
    ],
    ["POST", "https://tr.example.com/ssf/verify", { stream_id: "f67e39a0" }],
  ]);
});

it.each<[configuration: object, status: [number, unknown?], code: string]>([
  [{ ...CONFIGURATION, issuer: "https://tr.example.com/" }, [200], "RESPONSE_INVALID"],
  [{ ...CONFIGURATION, status_endpoint: undefined }, [200], "RESPONSE_INVALID"],
  [{ ...CONFIGURATION, status_endpoint: "http://tr.example.com/status" }, [200], "TLS_REQUIRED"],
  ...[
    ...["http://127.0.0.1:9200/_cluster", "http://localhost:9200/", "https://[::1]/", "https://10.0.0.5/s"],
    ...["https://169.254.169.254/latest", "https://2130706433/", "https://[::ffff:7f00:1]/"],
  ].map((status_endpoint): [object, [number, unknown], string] => [
    { ...CONFIGURATION, status_endpoint },
    [200, { status: "enabled" }],
    "ADDRESS_REFUSED",
  ]),
  [CONFIGURATION, [200, { status: "resting" }], "RESPONSE_INVALID"],
  [CONFIGURATION, [200, { status: "enabled", stream_id: "another" }], "RESPONSE_INVALID"],
  [CONFIGURATION, [200, []], "RESPONSE_INVALID"],
  [CONFIGURATION, [403], "SOURCE_REFUSED"],
  [CONFIGURATION, [429], "RECEIVER_UNAVAILABLE"],
])("a call that fails rejects with a code: %j, %j", async (configuration, status, code) => {
  const { stream } = streamAt((_, url) => (url.includes(".well-known") ? [200, configuration] : status));
  await expect(stream.status()).rejects.toMatchObject({ code });
});

it("a configuration that could not be fetched is asked for again", async () => {
  let isUp = false;
  const { stream } = streamAt((_, url) => {
    if (url.includes(".well-known")) return isUp ? [200, CONFIGURATION] : [503];
    return [200, { status: "enabled" }];
  });
  await expect(stream.status()).rejects.toMatchObject({ code: "RECEIVER_UNAVAILABLE" });
  isUp = true;
  expect(await stream.status()).toEqual({ status: "enabled" });
});

it("nothing inside the network is asked because a transmitter names it, but its own origin is", async () => {
  const { ca, server: certificate } = runCertificates();
  const folder = temporaryFolder("stream");
  writeFileSync(join(folder, "ca.pem"), ca);
  const asked: string[] = [];
  const inside: RequestListener = (req, res) => {
    asked.push(`inside ${req.url}`);
    res.end('{"status":"enabled"}');
  };
  const plain = await httpServer(inside);
  const hidden = await httpsServer(certificate, inside);
  const issuer = await httpsServer(certificate, (req, res) => {
    asked.push(`${req.method} ${req.url}`);
    if (!req.url?.includes("ssf-configuration")) return res.end('{"status":"enabled"}');
    const [, path = ""] = req.url.split("/.well-known/ssf-configuration");
    const origin = `https://tenant.example.com:${issuer.port}`;
    const endpoints: Record<string, string> = {
      "/plain": `http://127.0.0.1:${plain.port}/status`,
      // The name of the same machine, which this transmitter's DNS has lead inside.
      "/hidden": `https://tenant.example.com:${hidden.port}/status`,
      "/own": `${origin}/status`,
    };
    return res.end(JSON.stringify({ issuer: `${origin}${path}`, status_endpoint: endpoints[path] }));
  });
  for (const { stop } of [plain, hidden, issuer]) onTestFinished(async () => void (await stop()));
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "stream-process.mjs"), `https://tenant.example.com:${issuer.port}`],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [said] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(JSON.parse(said)).toEqual(["ADDRESS_REFUSED", "ADDRESS_REFUSED", "enabled"]);
  expect(asked).toEqual([
    "GET /.well-known/ssf-configuration/plain",
    "GET /.well-known/ssf-configuration/hidden",
    "GET /.well-known/ssf-configuration/own",
    "GET /status?stream_id=one",
  ]);
});
