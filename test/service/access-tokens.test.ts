import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fixedClock } from "hookproof/testing";
import type { Service } from "hookproof-service";
import { decodeProtectedHeader, importJWK, type JWTPayload, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStorage, type Storage } from "../../service/src/storage/storage.js";
import { dataFolder } from "../kit/own-server.js";
import { startService } from "./running-service.js";

const PATH = "/api/v1/auth-configs/ac-oidc";
const START = Date.parse("2026-01-01T00:00:00Z");
const clock = fixedClock(START);

let folder: string;
let service: Service;
/** A connection of its own to the service's file: whoever has the signing key can make tokens of every kind. */
let beside: Storage;
beforeEach(async () => {
  clock.advance(START - clock.now());
  folder = await dataFolder("tokens");
  const db = join(folder, "service.db");
  service = await startService({ db, clock, fixture: { authConfigs: [{ id: "ac-oidc" }] } });
  beside = await openStorage(db, clock);
});
afterEach(async () => {
  beside.db.close();
  await service.stop();
  await rm(folder, { recursive: true });
});

interface Forged {
  alg?: string;
  /** Empty: there is none. */
  typ?: string;
  claims?: JWTPayload;
}

/** A token of the service's own key, with something changed. */
async function forged({ alg = "EdDSA", typ = "at+jwt", claims = {} }: Forged = {}): Promise<string> {
  const key = beside.signingKeys.all().at(-1);
  const tenant = beside.meta.get("tenant") ?? "";
  const now = Math.floor(clock.now() / 1000);
  const all = { iss: tenant, aud: tenant, sub: "local-admin", exp: now + 600, ...claims };
  return new SignJWT(all)
    .setProtectedHeader({ alg, kid: key?.kid ?? "", ...(typ === "" ? {} : { typ }) })
    .sign(await importJWK(JSON.parse(key?.privateJwk ?? ""), alg));
}

async function statusOf(authorization: string, method = "GET"): Promise<number> {
  const answer = await fetch(`${service.url}${PATH}`, { method, headers: { Authorization: authorization } });
  await answer.arrayBuffer();
  return answer.status;
}
const status = (token: string) => statusOf(`Bearer ${token}`);

describe("a token signed by the service's own key", () => {
  it("is good as the service makes it", async () => {
    expect(await status(await forged())).toBe(200);
  });

  it.each<[what: string, forged: Forged]>([
    ["another name of the algorithm", { alg: "Ed25519" }],
    ["another type", { typ: "JWT" }],
    ["no type", { typ: "" }],
    ["another audience", { claims: { aud: "other" } }],
    ["no subject", { claims: { sub: undefined as never } }],
    ["a client that was never there", { claims: { sub: "nobody" } }],
    ["no expiry", { claims: { exp: undefined as never } }],
    ["an expiry that is now", { claims: { exp: START / 1000 } }],
    ["a time before it is good", { claims: { nbf: START / 1000 + 60 } }],
  ])("is refused with %s", async (_what, given) => {
    expect(await status(await forged(given))).toBe(401);
  });

  it("is refused in more than 8,192 characters, and taken in as many", async () => {
    const { length } = await forged({ claims: { more: "" } });
    const most = Math.floor(((8_192 - length) * 3) / 4);
    expect(await status(await forged({ claims: { more: "x".repeat(most - 3) } }))).toBe(200);
    expect(await status(await forged({ claims: { more: "x".repeat(most + 3) } }))).toBe(401);
  });

  it.each([
    (token: string) => `Basic x Bearer ${token}`,
    (token: string) => `xBearer ${token}`,
    (token: string) => `Bearer ${token} x`,
    (token: string) => `Bearer ${token},`,
    (token: string) => `Bearer  ${token}`,
    (token: string) => `Bearer ${token}=`,
    (token: string) => token,
  ])("is refused in another header than its own: %s", async (header) => {
    const token = await forged();
    expect(await statusOf(header(token))).toBe(401);
    expect(await statusOf(`bEaReR ${token}`)).toBe(200);
  });
});

describe("a token that was good a moment ago", () => {
  it.each<[part: string, at: number]>([
    ["header", 0],
    ["claims", 1],
    ["signature", 2],
  ])("is refused with another %s, wherever it is altered", async (_part, at) => {
    const token = await service.token();
    const other = (await service.token({ role: "member" })).split(".");
    expect(await status(token)).toBe(200);
    const parts = token.split(".");
    const part = parts[at] ?? "";
    const wrong = [0, Math.floor(part.length / 2), part.length - 2].map((place) => {
      const character = part[place] === "A" ? "B" : "A";
      return parts.with(at, part.slice(0, place) + character + part.slice(place + 1)).join(".");
    });
    if (at > 0) wrong.push(parts.with(at, other[at] ?? "").join("."));
    for (const one of wrong) expect(await status(one), one).toBe(401);
    expect(await status(token)).toBe(200);
  });

  it("is refused once its client is gone, or counts for less once its role is", async () => {
    const token = await service.token();
    expect(await status(token)).toBe(200);
    beside.db.exec("UPDATE clients SET role = 'member'");
    expect(await statusOf(`Bearer ${token}`, "DELETE")).toBe(403);
    beside.db.exec("DELETE FROM clients");
    expect(await status(token)).toBe(401);
  });

  it("is remembered until 1,000 others were", async () => {
    // Longer than the service gives out, so that its key is gone before it is.
    const claims = { exp: START / 1000 + 86_400 };
    const tokens = await Promise.all(
      Array.from({ length: 1_001 }, (_, n) => forged({ claims: { ...claims, jti: `${n}` } })),
    );
    const [first = "", ...others] = tokens;
    expect(await status(first)).toBe(200);
    for (let at = 0; at < 999; at += 37) {
      const some = await Promise.all(others.slice(at, Math.min(at + 37, 999)).map(status));
      expect(new Set(some)).toEqual(new Set([200]));
    }
    const late = others[999] ?? "";
    await service.rotateSigningKey();
    expect(await status(late)).toBe(200);
    clock.advance(66 * 60_000);
    // The first one was pushed out by the last; the second one is remembered, and not looked at again.
    expect(await status(first)).toBe(401);
    expect(await status(others[0] ?? "")).toBe(200);
    clock.advance(86_400_000);
    expect(await status(others[0] ?? "")).toBe(401);
  });
});

describe("the signing key", () => {
  const kids = () => beside.signingKeys.all().map(({ kid }) => kid);

  it("that was replaced verifies for 5 minutes longer than a token lives, and is gone after the next rotation", async () => {
    const [first] = kids();
    const token = () => forged({ claims: { exp: START / 1000 + 86_400, jti: `${Math.random()}` } });
    const [soon, inTime, late] = [await token(), await token(), await token()];
    await service.rotateSigningKey();
    expect(kids()).toHaveLength(2);
    expect(await status(soon)).toBe(200);
    clock.advance(65 * 60_000 - 1);
    expect(await status(inTime)).toBe(200);
    clock.advance(1);
    expect(await status(late)).toBe(401);
    const second = kids().filter((kid) => kid !== first);
    await service.rotateSigningKey();
    expect(kids()).not.toContain(first);
    expect(kids()).toEqual(expect.arrayContaining(second));
    expect(kids()).toHaveLength(2);
  });

  it("is the newest there is, also by a clock that was put back before all of them", async () => {
    const signedBy = async () => decodeProtectedHeader(await service.token()).kid;
    const [first] = kids();
    expect(await signedBy()).toBe(first);
    clock.advance(60_000);
    await service.rotateSigningKey();
    const newest = beside.signingKeys.all().at(-1)?.kid;
    expect(newest).not.toBe(first);
    expect(await signedBy()).toBe(newest);
    clock.advance(-86_400_000);
    expect(await signedBy()).toBe(newest);
  });

  it("that cannot be read is an error of the service, and not the caller's", async () => {
    const token = await forged();
    beside.db.exec("UPDATE signing_keys SET private_jwk = 'broken'");
    const lines: string[] = [];
    const log = { info() {}, warn() {}, error: (_: object, message: string) => void lines.push(message) };
    await service.stop();
    service = await startService({ db: join(folder, "service.db"), clock, log });
    expect(await status(token)).toBe(500);
    expect(lines).toEqual(["a request failed"]);
  });
});
