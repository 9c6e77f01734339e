import { expect, it } from "vitest";
import { startService } from "./running-service.js";

it("serves the API reference without anything from elsewhere", async () => {
  const { url } = await startService();
  const page = await fetch(`${url}/reference`);
  const html = await page.text();
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(html).not.toMatch(/https?:/);
  const named = [...html.matchAll(/(?:src|href|spec-url)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(named).toHaveLength(3);
  for (const path of named) {
    const part = await fetch(url + path);
    expect([path, part.status, part.headers.get("x-content-type-options")]).toEqual([path, 200, "nosniff"]);
    await part.body?.cancel();
  }
  const document = (await (await fetch(`${url}/reference/openapi.json`)).json()) as { openapi: string };
  expect(document.openapi).toBe("3.1.0");
});
