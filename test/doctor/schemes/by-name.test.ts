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
