import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { CAEP, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import { pollSecurityEvents, securityEventPollHandler } from "hookproof/set/polling";
import { expect, it, onTestFinished } from "vitest";
import { httpServer, started } from "../kit/local-server.js";
import { describeWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

const ISSUER = "https://idp.example.com/";
const AUDIENCE = "https://rp.example.com/";
const PYTHON = "/usr/bin/python3";
const script = fileURLToPath(new URL("security-event-poll.py", import.meta.url));
const record = await generateKey({ alg: "ES256", kid: "k1" });
const revoked = securityEvent(CAEP.sessionRevoked, { event_timestamp: 1 });

/** Python with its task; the lines that it prints. */
function python(task: object): AsyncIterableIterator<string> {
  const child = spawn(PYTHON, [script, JSON.stringify(task)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

describeWith("python3-jwt", hasTool(PYTHON, "-c", "import jwt, cryptography"))("polls with Python", () => {
  it("it polls our transmitter: reads each token, acknowledges and reports", async () => {
    const keys = createKeySet([record]);
    const signer = securityEventSigner({
      issuer: ISSUER,
      audience: AUDIENCE,
      key: () => keys.signingKey("ES256"),
    });
    const store = memoryStore();
    const outbox = createOutbox({
      store,
      listeners: { rp: { url: AUDIENCE, signer, polled: true } },
      quiet: true,
    });
    const ids: string[] = [];
    for (let n = 0; n < 5; n++)
      ids.push((await outbox.enqueue({ listener: "rp", payload: revoked })).eventId);
    const poll = securityEventPollHandler({
      store,
      listener: "rp",
      signer,
      authorize: (request) => request.headers.get("Authorization") === "Bearer abc",
    });
    const { port } = await started(
      httpServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { method = "", headers } = request;
        const answer = await poll(
          new Request("https://idp.example.com/ssf/poll", {
            method,
            headers: headers as Record<string, string>,
            body: Buffer.concat(chunks),
          }),
        );
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      }),
    );
    const url = `http://127.0.0.1:${port}/`;
    const { value } = await python({ do: "poll", url, jwks: await keys.publicJwks() }).next();
    const sets = (some: readonly string[]) =>
      Object.fromEntries(some.map((id) => [id, [CAEP.sessionRevoked]]));
    expect(JSON.parse(value)).toEqual([
      { sets: sets(ids.slice(0, 2)), moreAvailable: true },
      { sets: sets(ids.slice(2, 4)), moreAvailable: true },
      { sets: sets(ids.slice(4)), moreAvailable: false },
      { sets: {}, moreAvailable: false },
    ]);
    const states = await Promise.all(ids.map(async (id) => (await outbox.find(id))[0]?.state));
    expect(states).toEqual(["delivered", "dead", "delivered", "delivered", "delivered"]);
  });

  it("our recipient polls it: runs each event once, acknowledges and reports", async () => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = (jti: string, aud: string) => ({ iss: ISSUER, aud, jti, iat, ...revoked });
    const tokens = [
      claims("one", AUDIENCE),
      claims("not ours", "https://other.example.com/"),
      claims("two", AUDIENCE),
    ];
    const { value: port } = await python({ do: "transmit", jwk: record.privateJwk, tokens }).next();
    const url = `http://127.0.0.1:${port}/`;
    const told = async () => (await fetch(url)).json() as Promise<Record<string, unknown>>;
    const ran: string[] = [];
    const stopping = new AbortController();
    await pollSecurityEvents({
      url,
      authorization: "Bearer abc",
      verifier: securityEventVerifier({
        issuer: ISSUER,
        audience: AUDIENCE,
        keys: localKeys({ keys: [record.publicJwk] }),
      }),
      run: async ({ id }) => ran.push(id),
      maxEvents: 2,
      signal: stopping.signal,
      wait: async () => stopping.abort(), // it waits where an answer has nothing
    });
    expect(ran).toEqual(["one", "two"]);
    expect(await told()).toEqual({
      ack: ["one", "two"],
      setErrs: { "not ours": { err: "invalid_audience", description: expect.any(String) } },
      authorization: expect.arrayContaining(["Bearer abc"]),
    });
  });
});
