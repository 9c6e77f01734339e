import { createHmac, randomBytes } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { generateSecret } from "hookproof";
import { createFakeReceiver, type FakeRequest } from "hookproof/testing";
import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { EXAMPLES } from "../kit/example-process.js";
import { serve } from "../kit/loopback.js";
import { fencedBlocks, ROOT } from "../kit/markdown.js";
import { itWith } from "../kit/needs.js";
import { emptyDatabase, ownPostgres } from "../kit/postgres.js";
import { matches, openStage, parseTranscript, requireBuild } from "../kit/transcript.js";

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());
beforeAll(requireBuild);

/** What only looks is looked at again until it shows what it should: workers take their time. */
const LOOKS = /^(?:hookproof outbox (?:status|list)|grep) /;

itWith("postgresql", postgres)(
  "docs/guides/many-tenants.md: tenants come, go, pause and rotate while events flow",
  async () => {
    const secrets = { acme: generateSecret(), initech: generateSecret(), next: generateSecret() };
    const acme = createFakeReceiver([], { secret: secrets.acme });
    const initech = createFakeReceiver([], { secret: [secrets.next, secrets.initech] });
    const server = await serve(
      getRequestListener((request) => (request.url.endsWith("lst_acme") ? acme : initech).handle(request)),
    );
    const url = await emptyDatabase(postgres?.url ?? "", "product");
    const stage = await openStage({
      DATABASE_URL: url,
      HOOKPROOF_OUTBOX: url,
      TENANT_KEY: randomBytes(32).toString("base64"),
      ALLOWED_CIDRS: "127.0.0.0/8",
    });
    const work = join(stage.folder, "work");
    symlinkSync(join(EXAMPLES, "outbox-tenants.mjs"), join(work, "outbox-tenants.mjs"));
    writeFileSync(join(work, "acme.secret"), secrets.acme);
    writeFileSync(join(work, "initech.secret"), secrets.initech);
    writeFileSync(join(work, "initech-next.secret"), `${secrets.next}\n`);

    const atRotation: number[] = [];
    try {
      const blocks = fencedBlocks(join(ROOT, "docs/guides/many-tenants.md"));
      const story = blocks.filter(({ language }) => language === "console").map(({ text }) => text);
      for (const { command, expected } of story.flatMap(parseTranscript)) {
        if (command.includes(" rotate ")) {
          await expect.poll(() => initech.requests.length).toBeGreaterThan(10);
          atRotation.push(initech.requests.length);
        }
        const run = () => stage.run(command.replace(/https:\/\/\w+\.example\.com/, server.url), true);
        let seen = await run();
        if (LOOKS.test(command))
          for (const end = Date.now() + 60_000; !matches(expected, seen) && Date.now() < end; )
            seen = await run();
        if (!matches(expected, seen)) expect({ command, seen }).toEqual({ command, seen: expected });
      }
      await expect.poll(() => initech.requests.length).toBeGreaterThan((atRotation[0] ?? 0) + 40);
    } finally {
      await stage.close();
    }

    // Each event was taken once, and nobody saw a wrong signature.
    for (const { requests } of [acme, initech])
      expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(acme.requests).toHaveLength(5);

    // The tenant that had traffic all the time was signed for with the old secret, then with the new one.
    const signedBy = initech.requests.map((request) => (isSignedWith(secrets.next, request) ? "new" : "old"));
    expect(new Set(signedBy.slice(0, atRotation[0]))).toEqual(new Set(["old"]));
    expect(new Set(signedBy.slice(signedBy.indexOf("new") + 20))).toEqual(new Set(["new"]));

    const pool = new pg.Client({ connectionString: url });
    await pool.connect();
    const { rows } = await pool.query(`SELECT
      (SELECT count(*)::int FROM invoices WHERE tenant = 'initech') AS invoices,
      (SELECT count(*)::int FROM hookproof.event WHERE listener = 'initech') AS events,
      (SELECT string_agg(encode(secrets, 'escape'), '') FROM tenants) AS stored`);
    await pool.end();
    await server.stop();
    expect(rows[0].events).toBe(rows[0].invoices);
    expect(rows[0].stored).not.toContain(secrets.next);
  },
);

/** The signature as the specification has it (5.1), by Node's own HMAC. */
function isSignedWith(secret: string, { headers, text }: FakeRequest): boolean {
  const signed = `${headers.get("webhook-timestamp")}.${headers.get("webhook-event-id")}.${text}`;
  return createHmac("sha256", secret).update(signed).digest("base64url") === headers.get("webhook-signature");
}
