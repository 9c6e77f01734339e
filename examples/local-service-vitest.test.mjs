// npx vitest run examples/local-service-vitest.test.mjs
import { createService } from "hookproof-service";
import { afterAll, beforeEach, expect, test } from "vitest";

const service = await createService({
  fixture: { authConfigs: [{ id: "staff", displayName: "Staff" }] },
});
afterAll(() => service.stop());
beforeEach(() => service.reset());

/** The code under test: it tries again while the service is unavailable. */
async function nameOf(authConfig, token) {
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = await fetch(`${service.url}/api/v1/auth-configs/${authConfig}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    if (answer.status === 503) continue;
    return (await answer.json()).authConfig.displayName;
  }
  throw new Error("the service is unavailable");
}

/** The requests so far for an operation. */
async function requests(operation) {
  const answer = await fetch(`${service.url}/local/v1/journal/search`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.controlToken}`, "Content-Type": "application/json" },
    body: JSON.stringify({ operation }),
  });
  return (await answer.json()).list;
}

test("a name is read", async () => {
  expect(await nameOf("staff", await service.token())).toBe("Staff");
});

test("an outage is survived", async () => {
  service.setFault("getAuthConfig", { status: 503, times: 2 });
  expect(await nameOf("staff", await service.token())).toBe("Staff");
  expect((await requests("getAuthConfig")).map(({ status }) => status)).toEqual([503, 503, 200]);
});
