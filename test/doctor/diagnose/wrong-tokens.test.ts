import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { diagnose } from "hookproof/diagnose";
import { type Jwks, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";

interface WrongTokens {
  readonly url: string;
  readonly baseUrl: string;
  readonly cases: readonly {
    readonly mistake: string | null;
    readonly name: string;
    readonly now: number;
    readonly jwks: Jwks;
    /** A part of the message, such as by how much. */
    readonly says: string | null;
    readonly headers: Record<string, string>;
    readonly bodyBase64: string;
  }[];
}

const hasPyJwt = hasTool("/usr/bin/python3", "-c", "import jwt, cryptography");
const script = fileURLToPath(new URL("make_wrong_tokens.py", import.meta.url));
const { url, baseUrl, cases }: WrongTokens = hasPyJwt
  ? JSON.parse(execFileSync("/usr/bin/python3", [script], { encoding: "utf8" }))
  : { url: "", baseUrl: "", cases: [] };

/** The signature verifies once the mistake is undone, so nothing else is said about it. */
const PROVEN_ALONE: ReadonlySet<string | null> = new Set([
  "token-signature-der",
  "token-signature-prehashed",
  "kid-of-other-key",
]);

describeWith("python3-jwt", hasPyJwt)("a token that PyJWT made is explained, first of all:", () => {
  it.each(cases.map((one) => [one.name, one] as const))(
    "%s",
    async (_, { mistake, now, jwks, says, ...sent }) => {
      const clock = fixedClock(now * 1000);
      const body = new Uint8Array(Buffer.from(sent.bodyBase64, "base64"));
      const request = { method: "POST", url, headers: sent.headers, body };
      const listener = { id: "lst_1", baseUrl };
      const { mistakes } = await diagnose({ request, listener, jwks, clock });
      expect(mistakes[0]?.id ?? null).toBe(mistake);
      if (PROVEN_ALONE.has(mistake)) expect(mistakes).toHaveLength(1);
      if (says !== null) expect(mistakes[0]?.message).toContain(says);

      const token = sent.headers.Authorization?.split(" ").at(-1) ?? "no token";
      if (token.includes("."))
        expect(JSON.stringify(mistakes)).not.toContain(token.split(".")[2] || "no signature");
      const usable = jwks.keys?.every((key) => !("d" in key)) ?? false;
      if (!usable) return;
      const auth = { method: "jwt", keys: localKeys(jwks) } as const;
      const verdict = await createReceiver({ listener: { ...listener, auth }, clock }).verify(request);
      expect(verdict.ok, "a mistake is named exactly when a listener refuses").toBe(mistake === null);
    },
  );

  it("names every wrong claim, not only the first", async () => {
    const one = cases.find(({ name }) => name === "a right token, ES256");
    const [header = "", claims = "", signature = ""] = (one?.headers.Authorization ?? "").split(".");
    const wrong = {
      ...JSON.parse(Buffer.from(claims, "base64url").toString()),
      aud: baseUrl,
      htm: "post",
      exp: 1_700_000_000,
    };
    const token = [header, Buffer.from(JSON.stringify(wrong)).toString("base64url"), signature].join(".");
    const request = { url, headers: { ...one?.headers, Authorization: token }, body: "{}" };
    const clock = fixedClock((one?.now ?? 0) * 1000);
    const { mistakes } = await diagnose({ request, listener: { url, baseUrl }, clock });
    expect(mistakes.map(({ id }) => id)).toEqual([
      "claim-aud-swapped",
      "claim-htm-case",
      "claim-htb-unexplained",
      "claim-exp-past",
    ]);
  });

  it("takes a resolver in place of a document, and works without either", async () => {
    const wrongKey = cases.find(({ mistake }) => mistake === "token-signature-unexplained");
    if (!wrongKey) throw new Error("the case is missing");
    const request = { url, headers: wrongKey.headers, body: Buffer.from(wrongKey.bodyBase64, "base64") };
    const clock = fixedClock(wrongKey.now * 1000);
    const listener = { id: "lst_1", baseUrl };
    const keys = localKeys(wrongKey.jwks);
    const withKeys = await diagnose({
      request,
      listener: { ...listener, auth: { method: "jwt", keys } },
      clock,
    });
    expect(withKeys.mistakes.map(({ id }) => id)).toEqual(["token-signature-unexplained"]);
    expect((await diagnose({ request, listener, clock })).mistakes).toEqual([]);
  });
});
