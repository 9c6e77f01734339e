// Wrong requests gathered by other hands than those that write the catalogue get the mistakes that they have, and no more.
import { readdirSync, readFileSync } from "node:fs";
import type { HeadersInput } from "hookproof";
import { type Diagnosis, diagnose } from "hookproof/diagnose";
import type { DerivedComponent } from "hookproof/http-signature";
import { type Jwks, localKeys } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

/** What the receiver knows: of all rows of a file, or of one that differs in it. */
interface Context {
  readonly secret: string;
  readonly secrets: string;
  readonly jwks: Jwks;
  readonly listener: { readonly id: string; readonly baseUrl: string };
  readonly url: string;
  readonly issuer: string;
  readonly audience: string;
  readonly components: readonly DerivedComponent[];
}

/** A request as it arrived. `expect` is every mistake that is named; `gap` says why it is not named, or not rightly. */
interface Row {
  readonly title: string;
  readonly by: string;
  readonly source?: string;
  readonly headers?: HeadersInput;
  readonly signature?: string;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly context?: Partial<Context>;
  readonly expect?: readonly string[];
  readonly gap?: string;
}

const folder = new URL("requests/", import.meta.url);
const clock = fixedClock(1_767_225_600_000);

type Request = { readonly headers: HeadersInput; readonly body: string | Uint8Array };

const DIAGNOSE: Record<string, (request: Request, known: Context) => Promise<Pick<Diagnosis, "mistakes">>> = {
  hmac: (request, { secret, url }) => diagnose({ request: { ...request, url }, secret, clock }),
  jwt: (request, { jwks, listener }) => diagnose({ request, jwks, listener, clock }),
  "standard-webhooks": (request, { secrets }) =>
    diagnose({ scheme: "standard-webhooks", request, secrets, clock }),
  "http-signature": (request, { url, jwks, components }) => {
    const keys = localKeys(jwks);
    const sent = { method: "POST", ...request };
    return diagnose({ scheme: "http-signature", request: sent, url, jwks, keys, components, clock });
  },
  "security-event-token": (request, { issuer, audience, jwks }) => {
    const keys = localKeys(jwks);
    return diagnose({ scheme: "security-event-token", request, issuer, audience, jwks, keys, clock });
  },
};

function rowsOf(scheme: string): { context: Context; rows: Row[] } {
  const lines = readFileSync(new URL(`${scheme}.jsonl`, folder), "utf8")
    .trim()
    .split("\n");
  const [first, ...rows] = lines.map((line): unknown => JSON.parse(line));
  return { context: (first as { context: Context }).context, rows: rows as Row[] };
}

function requestOf({ headers, signature, body, bodyBase64 }: Row): Request {
  return {
    headers: headers ?? {
      "Content-Type": "application/json",
      "Webhook-Timestamp": "1767225600",
      "Webhook-Event-Id": "5f0c1d2e-7a4b-4c3d-8e9f-0a1b2c3d4e5f",
      "Webhook-Signature": signature ?? "",
    },
    body: body ?? new Uint8Array(Buffer.from(bodyBase64 ?? "", "base64")),
  };
}

describe("the gathered requests", () => {
  const schemes = Object.keys(DIAGNOSE);
  const all = new Map(schemes.map((scheme) => [scheme, rowsOf(scheme)]));

  it("are all read", () => {
    expect(readdirSync(folder).toSorted()).toEqual(schemes.map((scheme) => `${scheme}.jsonl`).toSorted());
  });

  for (const [scheme, { context, rows }] of all)
    it(`of ${scheme} get their mistakes, and no other`, async () => {
      const expected: Record<string, readonly string[]> = {};
      const said: Record<string, readonly string[]> = {};
      for (const row of rows) {
        if (!row.expect) continue;
        const diagnosis = await DIAGNOSE[scheme]?.(requestOf(row), { ...context, ...row.context });
        const name = `${row.by}: ${row.title}`;
        expected[name] = row.expect;
        said[name] = diagnosis?.mistakes.map(({ id }) => id) ?? [];
      }
      expect(said).toEqual(expected);
    });

  it("are as many as the documentation says, with a reason at each that is not named", () => {
    const rows = [...all.values()].flatMap((file) => file.rows);
    const gaps = rows.filter(({ gap }) => gap);
    expect(rows.filter(({ expect: ids, gap }) => Boolean(ids) === Boolean(gap))).toEqual([]);
    const page = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8");
    expect(page).toContain(`${rows.length} requests`);
    expect(page).toContain(`${rows.length - gaps.length} get what they should`);
  });
});
