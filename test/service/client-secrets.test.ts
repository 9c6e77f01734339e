// What is stored of client secrets, and what a guess costs: at the real cost of scrypt.
import { createHook } from "node:async_hooks";
import { scryptSync } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createService } from "hookproof-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStorage } from "../../service/src/storage/storage.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { startService } from "./running-service.js";

const setRealCost = createRequire(import.meta.url)("../kit/cheap-scrypt.cjs") as (isReal: boolean) => void;
beforeAll(() => setRealCost(true));
afterAll(() => setRealCost(false));

const clients = [
  { id: "robot", secret: "the same secret" },
  { id: "other", secret: "the same secret" },
  { id: "quiet" },
];

it("what is stored of a secret is scrypt with N 16,384, under a salt of its own", async () => {
  const folder = temporaryFolder("client-secrets");
  const db = join(folder, "service.db");
  const service = await startService({ db, fixture: { clients } });
  await service.stop();
  const { db: file, clients: stored } = await openStorage(db, { now: () => 0 });
  const salts = ["robot", "other"].map((id) => {
    const [salt = "", hash, ...rest] = stored.get(id)?.secretHash?.split(".") ?? [];
    const bytes = Buffer.from(salt, "base64url");
    const expected = scryptSync("the same secret", bytes, 32, { N: 16_384, r: 8, p: 1 });
    expect([hash, rest]).toEqual([expected.toString("base64url"), []]);
    expect(bytes).toHaveLength(16);
    return salt;
  });
  expect(salts[0]).not.toBe(salts[1]);
  file.close();
});

it("a secret that the service makes has 256 bit, and is another at each start", async () => {
  const secrets = [];
  for (let n = 0; n < 3; n++) {
    await using service = await createService();
    secrets.push(service.clientSecret);
    expect(service.clientSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  }
  expect(new Set(secrets).size).toBe(3);
});

it.each(["robot", "quiet", "nobody"])(
  "a wrong secret for %s costs one scrypt, whether there is such a client or not",
  async (client_id) => {
    const { url } = await startService({ fixture: { clients } });
    let hashed = 0;
    // What the process does, and not how long it takes.
    const hook = createHook({
      init(_id, type) {
        if (type === "SCRYPTREQUEST") hashed += 1;
      },
    }).enable();
    const params = { grant_type: "client_credentials", client_id, client_secret: "wrong" };
    const answer = await fetch(`${url}/auth/v1/token`, { method: "POST", body: new URLSearchParams(params) });
    hook.disable();
    expect(answer.status).toBe(401);
    expect(hashed).toBe(1);
  },
);
