// Fixes have code in the language that the other side's headers show: of senders, and of listeners.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transport } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { findListenerMistake } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { createTransport } from "../../src/http/transport-fetch.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { resultsOf, SECRET } from "../kit/probes/listeners.js";
import { CORRECT, headOf, hmacOf, PATH, startReference } from "../kit/probes/reference-listener.js";

/** Words of the code for a secret that was decoded, what clients of each language send, and what servers answer. */
const LANGUAGES: Readonly<Record<string, readonly [code: string, clients: string[], servers: string[]]>> = {
  JavaScript: ["createHmac('sha256', secret)", ["node", "axios/1.6.0", "undici"], ["Express"]],
  Python: ["hmac.new(secret.encode()", ["python-requests/2.31.0", "Python-urllib/3.11"], ["Werkzeug/3.0.1"]],
  PHP: ["hash_hmac('sha256', $message, $secret, true)", ["GuzzleHttp/7", "PHP/8.2.7"], ["PHP/8.2.7"]],
  Ruby: ["OpenSSL::HMAC.digest('SHA256', secret", ["Ruby", "Faraday v2.7.10"], ["WEBrick/1.8.1"]],
  Java: ["new SecretKeySpec(secret.getBytes(", ["Java-http-client/17.0.9", "okhttp/4.12.0"], ["Jetty(12.0)"]],
  Go: ["hmac.New(sha256.New, []byte(secret))", ["Go-http-client/1.1"], ["fasthttp"]],
  "C#": ["new HMACSHA256(Encoding.UTF8.GetBytes(secret))", ["RestSharp/110.2.0.0"], ["Kestrel", "ASP.NET"]],
  Rust: ["Hmac::<Sha256>::new_from_slice(secret.as_bytes())", ["reqwest/0.11.22"], ["actix-web"]],
};

const [timestamp, eventId] = ["1767225600", "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"];

/** What is wrong with a request whose secret was decoded. */
async function mistakesOf(
  userAgent: string | undefined,
  key: string | Buffer = Buffer.from(SECRET, "base64url"),
) {
  const body = '{"type":"user.offboarded"}';
  const signature = createHmac("sha256", key).update(`${timestamp}.${eventId}.${body}`).digest("base64url");
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
    "Webhook-Signature": signature,
    ...(userAgent === undefined ? {} : { "User-Agent": userAgent }),
  };
  const clock = { now: () => Number(timestamp) * 1000 };
  const { mistakes } = await diagnose({ request: { headers, body }, secret: SECRET, clock });
  return mistakes;
}

async function fixFor(...request: Parameters<typeof mistakesOf>) {
  return (await mistakesOf(...request)).map(({ fix }) => fix).join("\n");
}

describe("a fix for a sender", () => {
  for (const [name, [code, clients]] of Object.entries(LANGUAGES))
    it.each(clients)(`has code of ${name} for %s`, async (client) => {
      expect(await fixFor(client)).toContain(`In ${name}: ${code}`);
      const [{ fixes = [] } = {}] = await mistakesOf(client);
      expect(fixes[0]?.language).toBe(name);
      expect(fixes.map(({ language }) => language).sort()).toEqual(Object.keys(LANGUAGES).sort());
    });

  it.each([
    undefined,
    "curl/8.5.0",
    "Mozilla/5.0 (X11) Gecko/20100101 Firefox/128.0",
    "PostmanRuntime/7.36",
    "hookproof/0.1.0",
  ])("is the same for all others: %s", async (client) => {
    expect(await fixFor(client)).toBe(await fixFor(undefined));
  });

  it("is none for a right request", async () => {
    expect(await fixFor("Go-http-client/1.1", SECRET)).toBe("");
  });

  const POST: Readonly<Record<string, readonly [tool: string, program: (url: string) => string[]]>> = {
    JavaScript: [process.execPath, (url) => ["-e", `fetch("${url}", { method: "POST" })`]],
    Python: ["python3", (url) => ["-c", `import urllib.request as u; u.urlopen(u.Request("${url}", b"{}"))`]],
    Ruby: ["ruby", (url) => ["-rnet/http", "-e", `Net::HTTP.post(URI("${url}"), "{}")`]],
  };
  for (const [name, [tool, program]] of Object.entries(POST))
    itWith(tool, hasTool(tool, "--version"))(`knows what the standard library of ${name} sends`, async () => {
      let seen: string | undefined;
      const server = createServer((request, response) => {
        seen = request.headers["user-agent"];
        request.resume();
        response.end();
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const child = spawn(tool, program(`http://127.0.0.1:${port}/`));
      await once(child, "exit");
      server.closeAllConnections();
      server.close();
      expect(await fixFor(seen)).toContain(`In ${name}: `);
    });
});

describe("a fix for a listener", () => {
  for (const [name, [code, , servers]] of Object.entries(LANGUAGES))
    it.each(servers)(`has code of ${name} for %s`, async (server) => {
      const reference = await startReference({
        ...CORRECT,
        authenticates: ({ headers, body }) =>
          headers["webhook-signature"] ===
          hmacOf(Buffer.from(SECRET, "base64url"), headOf(headers), body).toString("base64url"),
      });
      const send = createTransport();
      const transport: Transport = async (request) => {
        const answer = await send(request);
        return { ...answer, headers: [...answer.headers, ["Server", server]] };
      };
      const target = { url: reference.baseUrl + PATH, auth: { method: "hmac", secret: SECRET } } as const;
      const results = await resultsOf(target, {
        transport,
        only: ["correct-request", "signature-*", "body-*json*"],
        allowTrigger: true,
      });
      const verdict = await findListenerMistake(target, results, { transport, allowTrigger: true });
      await reference.stop();
      expect(verdict?.id).toBe("secret-base64url-decoded");
      expect(verdict?.fix).toContain(code);
    });
});
