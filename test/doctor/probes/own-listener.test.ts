import { generateKey } from "hookproof/jwks";
import { describe, expect, it } from "vitest";
import { idsOf, type Probed, resultsOf, startHmac, startJwt } from "../../kit/probes/listeners.js";

/** Runs a test against a listener that is stopped afterwards. */
async function probing(starting: Promise<Probed>, test: (probed: Probed) => Promise<void>): Promise<void> {
  const probed = await starting;
  try {
    await test(probed);
  } finally {
    await probed.stop();
  }
}

describe("the test suite against our own listener", () => {
  it("HMAC: every probe passes", () =>
    probing(startHmac(), async ({ target }) => {
      const results = await resultsOf(target, { allowTrigger: true });
      expect(results.filter(({ outcome }) => outcome !== "pass")).toEqual([]);
      expect(results.length).toBeGreaterThanOrEqual(40);
    }));

  it.each(["ES256", "RS256", "EdDSA"] as const)("JWT %s: every probe passes", async (alg) =>
    probing(startJwt(await generateKey({ alg })), async ({ target }) => {
      const results = await resultsOf(target, { allowTrigger: true });
      const unlike = alg === "EdDSA" ? [] : ["alg-ed25519"]; // which needs an Ed25519 key
      expect(idsOf(results, "fail", "unclear", "skip")).toEqual(unlike);
      expect(results.length).toBeGreaterThanOrEqual(40);
    }),
  );
});
