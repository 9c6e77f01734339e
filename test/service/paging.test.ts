import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Service } from "hookproof-service";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { completed } from "../../service/src/api/validation.js";
import { openStorage, type Storage } from "../../service/src/storage/storage.js";
import { dataFolder } from "../kit/own-server.js";
import { ask, startService } from "./running-service.js";

const LONG = process.env.HOOKPROOF_LONG === "1";
const COHORT = "/api/v1/role-mining/suggestions/many/users";
const CREDENTIALS = "/api/v1/iam/tunnel/bridges/many/credentials";
const OWNERS = "/api/v2/apps/many/users/many/owners/users";
const at = { createdAt: 0, displayName: "" };

let folder: string;
let service: Service;
/** A connection of its own to the service's file: rows come and go beside the service. */
let beside: Storage;
beforeEach(async () => {
  folder = await dataFolder("paging");
  service = await startService({ db: join(folder, "service.db"), validateAnswers: !LONG });
  beside = await openStorage(join(folder, "service.db"), { now: () => 0 });
});
afterEach(async () => {
  beside.db.close();
  await rm(folder, { recursive: true });
});

const userId = (number: number) => `user-${String(number).padStart(8, "0")}`;

function addUsers(from: number, to: number, step = 1): void {
  beside.db.transaction(() => {
    for (let number = from; number < to; number += step) {
      // Seven to a name: the id decides among them.
      const displayName = `Name ${String(Math.floor(number / 7)).padStart(8, "0")}`;
      const user = completed("User", { id: userId(number), displayName });
      beside.users.add(user);
      beside.cohorts.addMember("many", user);
    }
  });
}

/** Every page from the first to the last; `between` is done after each. */
async function allPages(
  path: string,
  between: (page: number) => void = () => {},
): Promise<{ ids: string[]; times: number[] }> {
  const ids: string[] = [];
  const times: number[] = [];
  let pageToken = "";
  do {
    const start = performance.now();
    const { body } = path.includes("role-mining")
      ? await ask(service, "POST", path, { body: { pageSize: 100, pageToken } })
      : await ask(service, "GET", `${path}?page_size=100&page_token=${pageToken}`);
    times.push(performance.now() - start);
    ids.push(...body.list.map((item: { id?: string; userId: string }) => item.id ?? item.userId));
    pageToken = body.nextPageToken;
    between(times.length);
  } while (pageToken !== "");
  return { ids, times };
}

describe("paging", () => {
  it(`through ${LONG ? "1,000,000" : "2,000"} users while others come and go: nothing is skipped or doubled`, async () => {
    const count = LONG ? 1_000_000 : 2_000;
    beside.cohorts.add({ id: "many", ...at });
    // Even numbers stay; odd ones come and go.
    for (let from = 0; from < count; from += 10_000) addUsers(from, Math.min(from + 10_000, count), 2);
    let odd = 1;
    const gone: number[] = [];
    const { ids, times } = await allPages(COHORT, (page) => {
      // One before and one behind where the page ended, and the one before them leaves again.
      const here = page * 200;
      for (const number of [here - 101, here + 101]) {
        if (number > 0 && number < count) addUsers(number, number + 1);
      }
      odd = here - 301;
      if (odd > 0 && beside.users.delete(userId(odd))) gone.push(odd);
    });
    expect(new Set(ids).size).toBe(ids.length);
    const seen = new Set(ids);
    for (let number = 0; number < count; number += 2) {
      if (!seen.has(userId(number))) expect.fail(`${userId(number)} was skipped`);
    }
    expect(ids).toEqual([...ids].sort());
    expect(gone.length).toBeGreaterThan(count / 400);
    if (LONG) {
      const median = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)] as number;
      expect(median(times.slice(-101, -1))).toBeLessThan(1.5 * median(times.slice(1, 101)));
    }
  });

  it("through credentials and owners that were made at the same moment", async () => {
    beside.tunnelCredentials.addBridge({ id: "many", ...at });
    beside.resourceTypes.addApp({ id: "many", ...at });
    beside.owners.addAppUser({ appId: "many", id: "many", ...at });
    beside.cohorts.add({ id: "many", ...at });
    addUsers(0, 250);
    const owner = { appId: "many", appUserId: "many", roleSlug: "owner" };
    for (let number = 0; number < 250; number++) {
      const createdAt = new Date(Math.floor(number / 60) * 1000).toISOString();
      beside.tunnelCredentials.add(
        completed("TunnelCredential", { id: userId(number), bridgeId: "many", createdAt }),
      );
      beside.owners.addUserOwner({ ...owner, userId: userId(number), createdAt: Date.parse(createdAt) });
    }
    const expected = Array.from({ length: 250 }, (_, number) => userId(number));
    expect((await allPages(CREDENTIALS)).ids).toEqual(expected);
    const leaving = { ...owner, userId: userId(0) };
    const owners = await allPages(OWNERS, () => beside.owners.deleteUserOwner(leaving));
    expect(owners.ids).toEqual(expected);
    // One who has both roles stands there twice, at the same moment.
    beside.owners.addUserOwner({ ...owner, roleSlug: "deputy", userId: userId(9), createdAt: 0 });
    expect((await allPages(OWNERS)).ids.filter((id) => id === userId(9))).toHaveLength(2);
  });

  it.each([
    ["", 25],
    ["page_size=0", 10],
    ["page_size=1", 10],
    ["page_size=-5", 10],
    ["page_size=10", 10],
    ["pageSize=11", 11],
    ["page_size=100", 100],
    ["page_size=101", 100],
    ["page_size=99999999999", 100],
  ])("%s gives %i", async (query, size) => {
    beside.tunnelCredentials.addBridge({ id: "many", ...at });
    for (let number = 0; number < 120; number++) {
      beside.tunnelCredentials.add(completed("TunnelCredential", { id: userId(number), bridgeId: "many" }));
    }
    const { body } = await ask(service, "GET", `${CREDENTIALS}?${query}`);
    expect(body.list).toHaveLength(size);
    expect(body.nextPageToken).not.toBe("");
  });

  it("refuses a token with any other character, in its position or in its signature", async () => {
    beside.tunnelCredentials.addBridge({ id: "many", ...at });
    for (let number = 0; number < 30; number++) {
      beside.tunnelCredentials.add(completed("TunnelCredential", { id: userId(number), bridgeId: "many" }));
    }
    const statusOf = async (token: string) =>
      (await ask(service, "GET", `${CREDENTIALS}?page_token=${token}`)).status;
    const { nextPageToken: token } = (await ask(service, "GET", CREDENTIALS)).body;
    expect(token).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{22}$/);
    const signatureAt = token.indexOf(".") + 1;
    for (let place = 0; place < token.length; place += place < signatureAt ? 7 : 1) {
      for (const other of ["A", "B", "_"].filter((one) => one !== token[place]).slice(0, 2)) {
        const altered = token.slice(0, place) + other + token.slice(place + 1);
        expect(await statusOf(altered), `${place} ${altered}`).toBe(400);
      }
    }
    for (let length = 0; length < 22; length++)
      expect(await statusOf(token.slice(0, signatureAt + length))).toBe(400);
    expect(await statusOf(token)).toBe(200);
  });

  it.each([
    [10, 10, [10]],
    [20, 10, [10, 10]],
    [21, 10, [10, 10, 1]],
    [25, undefined, [25]],
    [26, undefined, [25, 1]],
    [0, undefined, [0]],
  ])("of %i entries by %s has no page without entries at its end", async (count, size, expected) => {
    beside.tunnelCredentials.addBridge({ id: "many", ...at });
    for (let number = 0; number < count; number++) {
      beside.tunnelCredentials.add(completed("TunnelCredential", { id: userId(number), bridgeId: "many" }));
    }
    const sizes = [];
    let token = "";
    do {
      const query = `page_token=${token}${size === undefined ? "" : `&page_size=${size}`}`;
      const { body } = await ask(service, "GET", `${CREDENTIALS}?${query}`);
      sizes.push(body.list.length);
      token = body.nextPageToken;
    } while (token !== "");
    expect(sizes).toEqual(expected);
  });

  it("takes a token for its own query only, and as it was given out", async () => {
    beside.tunnelCredentials.addBridge({ id: "many", ...at });
    beside.tunnelCredentials.addBridge({ id: "other", ...at });
    beside.cohorts.add({ id: "many", ...at });
    addUsers(0, 30);
    for (let number = 0; number < 30; number++) {
      beside.tunnelCredentials.add(completed("TunnelCredential", { id: userId(number), bridgeId: "many" }));
    }
    const page = async (path: string, token: string) =>
      ask(service, "GET", `${path}?page_token=${encodeURIComponent(token)}`);
    const { nextPageToken: token } = (await page(CREDENTIALS, "")).body;
    expect((await page(CREDENTIALS, token)).body.list).toHaveLength(5);
    // A size of its own is allowed.
    expect((await ask(service, "GET", `${CREDENTIALS}?page_token=${token}&page_size=10`)).status).toBe(200);

    const [position = "", signature = ""] = token.split(".");
    const altered = Buffer.from(JSON.stringify([0, userId(1)])).toString("base64url");
    for (const wrong of [`${altered}.${signature}`, `${token}=`, `${token}.`, position, `${token}A`, "."]) {
      expect((await page(CREDENTIALS, wrong)).status, wrong).toBe(400);
    }
    expect((await page(CREDENTIALS.replace("many", "other"), token)).status).toBe(400);
    expect((await ask(service, "POST", COHORT, { body: { pageToken: token } })).status).toBe(400);

    const filters = [{ attribute: "type", values: ["USER_TYPE_UNSPECIFIED"] }];
    const found = await ask(service, "POST", COHORT, { body: { profileFilters: filters } });
    const bound = { pageToken: found.body.nextPageToken };
    expect((await ask(service, "POST", COHORT, { body: bound })).status).toBe(400);
    const again = await ask(service, "POST", COHORT, { body: { ...bound, profileFilters: filters } });
    expect(again.body.list).toHaveLength(5);
  });
});
