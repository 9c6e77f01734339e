import { createHmac } from "node:crypto";
import { diagnose, mistakes } from "hookproof/diagnose";
import { schemeProbeTarget } from "hookproof/probes";
import { generateStandardSecret } from "hookproof/standard-webhooks";
import { expect, it } from "vitest";

it.each(["set", "toString", "access-governance"])(
  "a scheme that is not known is refused: %s",
  async (name) => {
    const scheme = name as "standard-webhooks";
    const said = "scheme must be one of standard-webhooks, http-signature, security-event-token, or left out";
    const secrets = generateStandardSecret();
    await expect(mistakes(scheme)).rejects.toThrow(new TypeError(said));
    await expect(diagnose({ scheme, request: { headers: {} }, secrets })).rejects.toThrow(
      new TypeError(said),
    );
    await expect(schemeProbeTarget({ scheme, url: "https://a.example/", secrets })).rejects.toThrow(
      new TypeError(said),
    );
  },
);

it("each scheme lists mistakes of its own, once each, with no function among them", async () => {
  for (const scheme of ["standard-webhooks", "http-signature", "security-event-token"] as const) {
    const listed = await mistakes(scheme);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    for (const one of listed) expect(Object.keys(one).sort()).toEqual(["fix", "id", "message", "title"]);
  }
  for (const one of await mistakes())
    expect(Object.keys(one).sort()).toEqual(["fix", "id", "message", "title"]);
});

it("a diagnosis of a scheme has no more than words either, and the fewest mistakes that explain it", async () => {
  const secrets = generateStandardSecret();
  const target = await schemeProbeTarget({
    scheme: "standard-webhooks",
    url: "https://hooks.example.com/in",
    secrets,
  });
  const request = { url: target.url, timestamp: "1614265330", eventId: "evt", body: Buffer.from('{"a": 1}') };
  const [[, value = ""] = []] = (await target.signer.sign(request)).headers;
  const lines = target.signer.scheme.headers?.(request) ?? [];
  const scheme = "standard-webhooks";
  const ids = async (signature: string, body = '{"a": 1}') => {
    const given = { headers: [...lines, ["webhook-signature", signature] as const], body };
    const found = await diagnose({ scheme, request: given, secrets: [generateStandardSecret(), secrets] });
    for (const one of found.mistakes)
      expect(Object.keys(one).sort()).toEqual(["fix", "id", "message", "title"]);
    return found.mistakes.map(({ id }) => id);
  };
  expect(await ids(value)).toEqual([]);
  expect(await ids(value.slice(3))).toEqual(["version-missing"]);
  expect(await ids(`v1,AAAA ${value.replace(",", "=")}`, '{"a": 1}\n')).toEqual([
    "body-line-break",
    "separator-differs",
  ]);
});

it("a signature's form is named whatever its digest begins with", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const wrong: Readonly<Record<string, (digest: Buffer) => string>> = {
    "version-missing": (digest) => digest.toString("base64"),
    "separator-differs": (digest) => `v1${digest.toString("base64")}`,
    "signature-in-base64url": (digest) => `v1,${digest.toString("base64url")}`,
    "version-missing,signature-quoted": (digest) => `"${digest.toString("base64")}"`,
  };
  const begins = new Set<string>();
  for (let n = 0; n < 200; n++) {
    const body = JSON.stringify({ n });
    const digest = createHmac("sha256", key).update(`msg_1.1614265330.${body}`).digest();
    begins.add(digest.toString("base64").slice(0, 1));
    for (const [named, written] of Object.entries(wrong)) {
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1614265330",
        "webhook-signature": written(digest),
      };
      const found = await diagnose({
        scheme: "standard-webhooks",
        request: { headers, body },
        secrets: [secret],
      });
      expect([written(digest), found.mistakes.map(({ id }) => id).join()]).toEqual([written(digest), named]);
    }
  }
  // A digit behind v1, and the v of a version itself.
  expect(begins.size).toBeGreaterThan(50);
  expect([..."v5"].every((one) => begins.has(one))).toBe(true);
});
