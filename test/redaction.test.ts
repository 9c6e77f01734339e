import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import {
  createEvent,
  createSender,
  DeliveryError,
  HookproofError,
  hmacSigner,
  jwtSigner,
  type Signer,
} from "hookproof";
import { generateKey, type KeyRecord } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const SECRET = "hunter2-hunter2-hunter2-hunter2-hunter2-hun";
const BODY = "body-that-nobody-may-read";
let key: KeyRecord;

beforeAll(async () => {
  key = await generateKey({ alg: "EdDSA", kid: "k" });
});

/** Everything people print a value with. */
function printed(value: unknown): string {
  const seen = [
    inspect(value, { depth: 9, showHidden: false, getters: true }),
    inspect({ wrapped: [value] }, { depth: 9 }),
    JSON.stringify(value) ?? "",
    String(value),
    `${value}`,
  ];
  if (value instanceof Error) seen.push(value.message, value.stack ?? "", inspect(value.cause, { depth: 9 }));
  return seen.join("\n");
}

const bodyText = JSON.stringify({ secretly: BODY });
const asBytes = inspect(new TextEncoder().encode(bodyText)).slice(20, 60);

describe("what is printed", () => {
  it("of signers holds no secret and no key", () => {
    const { privateJwk, kid, alg } = key;
    for (const signer of [hmacSigner({ secret: SECRET }), hmacSigner({ secret: [SECRET, "old-one"] })])
      expect(printed(signer)).not.toMatch(/hunter2|old-one/);
    for (const signer of [
      jwtSigner({ key: privateJwk, kid, alg }),
      jwtSigner(() => ({ key: privateJwk, kid, alg })),
    ])
      expect(printed(signer)).not.toContain(privateJwk.d);
    expect(inspect(hmacSigner({ secret: SECRET }))).toContain("[redacted]");
  });

  it("of key records by console.log holds no private member, generated or read from a store", async () => {
    const dir = mkdtempSync(join(tmpdir(), "hookproof-keys-"));
    try {
      const store = openKeyStore(dir);
      const made = await store.generate({ alg: "ES256" });
      const read = await store.load();
      expect(read).toHaveLength(1);
      for (const value of [made, read, { deep: { in: read } }, made.privateJwk, read[0]?.privateJwk])
        expect(inspect(value, { depth: 9 })).not.toContain(made.privateJwk.d);
      expect(inspect(read, { getters: true })).toContain("[redacted]");
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("of an event holds no body when it is logged", () => {
    const event = createEvent(bodyText);
    const text = [inspect(event, { depth: 9 }), inspect([event]), String(event)].join("\n");
    expect(text).toContain(event.id);
    expect(text).not.toContain(BODY);
    expect(text).not.toContain(asBytes);
  });
});

describe("a delivery that fails", () => {
  let refusing: string;
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers["webhook-signature"] ?? request.headers.authorization));
    // A receiver that echoes everything: none of it may come back out of an error.
    response.writeHead(401, { "X-Echo": seen.at(-1) });
    request.pipe(response);
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    refusing = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));

  it.each<[what: string, signer: () => Signer]>([
    ["HMAC", () => hmacSigner({ secret: [SECRET, `${SECRET}-old`] })],
    ["JWT", () => jwtSigner({ key: key.privateJwk, kid: "k", alg: "EdDSA" })],
  ])("prints no secret, signature, token or body: %s", async (_, signer) => {
    const events: unknown[] = [];
    const url = `${refusing}/api/v1/webhooks/incoming/lst_1`;
    const sender = createSender({ url, signer: signer(), observe: (event) => events.push(event) });
    const error = await sender.send(bodyText).then(
      () => expect.unreachable(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(DeliveryError);
    const text = `${printed(error)}\n${printed(events)}\n${printed(sender)}\n${printed(await sender.trySend("1"))}`;
    expect(text).toContain("AUTHENTICATION_REFUSED");
    expect(seen.length).toBeGreaterThan(0);
    for (const proof of seen) expect(text).not.toContain(proof.replace("Bearer ", ""));
    expect(text).not.toMatch(/hunter2/);
    expect(text).not.toContain(BODY);
    expect(text).not.toContain(asBytes);
    expect(text).not.toContain(key.privateJwk.d);
    expect(JSON.stringify(error)).not.toMatch(/"(?:event|body)"/);
    expect((error as DeliveryError).event.id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

it("an error for a payload or a secret does not repeat it", () => {
  const works = [
    () => createEvent(`{"a":"${BODY}"`),
    () => createEvent(1, { eventId: SECRET }),
    () => hmacSigner({ secret: `${SECRET}\ud800` }),
  ];
  for (const work of works) {
    try {
      work();
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(HookproofError);
      expect(printed(error)).not.toMatch(/hunter2|nobody-may-read/);
    }
  }
});
