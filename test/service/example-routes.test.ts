import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import { createService, exampleListener, exampleRoutes, type Service } from "hookproof-service";
import { afterAll, expect, it } from "vitest";
import { ask } from "./running-service.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-routes-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The seeded routes of a service, each called as printed. */
async function callAll(service: Service, db: string) {
  const listener = await exampleListener({ db, baseUrl: service.url });
  const routes = await exampleRoutes({ db, baseUrl: service.url });
  const statuses: [section: string, status: number][] = [];
  for (const { section, method, url, exampleBody } of routes) {
    if (section === "4.10") {
      expect(listener?.url).toBe(url);
      const signer = hmacSigner({ secret: listener?.secret ?? "" });
      const { url: to, ...init } = await signRequest({ url, signer, event: createEvent(exampleBody) });
      statuses.push([section, (await fetch(new Request(to, init))).status]);
      continue;
    }
    const path = url.slice(service.url.length);
    statuses.push([section, (await ask(service, method, path, { body: exampleBody })).status]);
  }
  return statuses;
}

it("every route of a seeded database is answered as it is printed", async () => {
  const db = join(folder, "routes.db");
  await using service = await createService({ db, seed: 42, users: 30, validateAnswers: true });
  const statuses = await callAll(service, db);
  expect(statuses).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => [`4.${n}`, 200]));
});

it("a route that the state has nothing for is left out", async () => {
  const db = join(folder, "empty.db");
  await using service = await createService({ db, fixture: {} });
  const sections = (await exampleRoutes({ db, baseUrl: service.url })).map(({ section }) => section);
  expect(sections).not.toContain("4.10");
  expect(sections).not.toContain("4.1");
  expect(await exampleListener({ db, baseUrl: service.url })).toBeUndefined();
  for (const { method, url, exampleBody } of await exampleRoutes({ db, baseUrl: "" }))
    expect((await ask(service, method, url, { body: exampleBody })).status).toBe(200);
});
