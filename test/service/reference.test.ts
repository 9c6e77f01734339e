import { expect, it } from "vitest";
import { startService } from "./running-service.js";

it("serves the API reference without anything from elsewhere", async () => {
  const { url } = await startService();
  const page = await fetch(`${url}/reference`);
  const html = await page.text();
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(html).not.toMatch(/https?:/);
  const named = new Set(
    [...html.matchAll(/(?:src|href|spec-url)="(\/[^"]+)"/g)].map(([, path = ""]) => path),
  );
  expect(named).toHaveLength(5);
  for (const path of named) {
    const part = await fetch(url + path);
    expect([path, part.status]).toEqual([path, 200]);
    if (path.startsWith("/reference/")) expect(part.headers.get("x-content-type-options")).toBe("nosniff");
    await part.body?.cancel();
  }
  expect(html).toContain('spec-url="/openapi.json"');
});
