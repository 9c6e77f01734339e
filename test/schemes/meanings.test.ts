// Where the schemes differ as data: which URLs they sign for, and what an answer to a copy means.
import { HookproofError } from "hookproof";
import { httpSignatureSigner } from "hookproof/http-signature";
import { securityEventSigner } from "hookproof/set";
import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
import { describe, expect, it } from "vitest";
import { byToken } from "../../src/schemes/access-governance/sign.js";
import { targetUrl } from "../../src/sender/sign-request.js";

const secret = "a secret that both sides know: 32 bytes or more";
const names = { issuer: "https://idp.example.com/", audience: "https://rp.example.com/" };
const SCHEMES = {
  "access-governance": byToken,
  "http-signature": httpSignatureSigner({ secret, keyId: "k" }).scheme,
  "standard-webhooks": standardWebhooksSigner({ secrets: generateStandardSecret() }).scheme,
  "security-event-token": securityEventSigner({
    ...names,
    key: { key: "never used", kid: "k", alg: "ES256" },
  }).scheme,
};
const NOW = 1_767_225_600_000;

type Meaning = readonly [outcome: string, earlier?: boolean];
const ACCEPTED: Meaning = ["accepted", false];
const EARLIER: Meaning = ["accepted", true];

/** Of 409, and of the statuses by which the schemes' own receivers accept. */
const OF_COPIES: Record<keyof typeof SCHEMES, { first: Meaning; later: Meaning; resent: Meaning }> = {
  "access-governance": { first: ["duplicate"], later: EARLIER, resent: EARLIER },
  "http-signature": { first: ["duplicate"], later: EARLIER, resent: EARLIER },
  // These answer a copy like the event itself, so that 409 has no meaning of its own.
  "standard-webhooks": { first: ["setup"], later: ["setup"], resent: ["setup"] },
  "security-event-token": { first: ["final"], later: ["final"], resent: ["final"] },
};

describe.each(Object.entries(SCHEMES))("in %s", (name, scheme) => {
  const meaning = (status: number, attempt: number, more: object = {}): Meaning => {
    const found = scheme.classify({ status, headers: [], ...more }, attempt, NOW);
    return found.outcome === "accepted" ? [found.outcome, found.earlier] : [found.outcome];
  };
  const copies = OF_COPIES[name as keyof typeof SCHEMES];

  it("has the name that it is known by", () => expect(scheme.name).toBe(name));

  it("signs for no URL without TLS, with credentials or with a fragment", () => {
    for (const url of [
      "http://hooks.example.com/api/v1/webhooks/incoming/lst_1",
      "https://user:secret@hooks.example.com/api/v1/webhooks/incoming/lst_1",
      "https://hooks.example.com/api/v1/webhooks/incoming/lst_1#part",
      "ftp://hooks.example.com/api/v1/webhooks/incoming/lst_1",
    ])
      expect(() => targetUrl(scheme, url), url).toThrow(HookproofError);
    const url = "https://hooks.example.com/api/v1/webhooks/incoming/lst_1";
    expect(targetUrl(scheme, url)).toBe(url);
    expect(targetUrl(scheme, "HTTPS://HOOKS.example.com:443/a/../api/v1/webhooks/incoming/lst_1")).toBe(url);
  });

  it("signs for any path and query, but where the scheme is of listeners", () => {
    const ofListeners = name === "access-governance";
    for (const url of [
      "https://hooks.example.com/in",
      "https://hooks.example.com/api/v1/webhooks/incoming/",
      "https://hooks.example.com/api/v1/webhooks/incoming/lst_1?tenant=7",
      "https://hooks.example.com/api/v1/webhooks/incoming/lst_1?",
    ]) {
      const form = () => targetUrl(scheme, url);
      if (ofListeners) expect(form, url).toThrow(expect.objectContaining({ code: "LISTENER_URL_INVALID" }));
      else expect(form()).toBe(url.replace(/\?$/, "")); // a lone question mark is not sent
    }
  });

  it("a 409 means the same at the second and at any later attempt, and after a request that went out twice", () => {
    expect(meaning(409, 1)).toEqual(copies.first);
    expect(meaning(409, 1, { resent: false })).toEqual(copies.first);
    expect(meaning(409, 2)).toEqual(copies.later);
    expect(meaning(409, 50)).toEqual(copies.later);
    expect(meaning(409, 1, { resent: true })).toEqual(copies.resent);
    expect(meaning(409, 2, { resent: true })).toEqual(copies.resent);
  });

  it("what is accepted is not an earlier copy, at whatever attempt", () => {
    for (const status of [200, 202, 204])
      for (const attempt of [1, 2])
        for (const resent of [true, false]) expect(meaning(status, attempt, { resent })).toEqual(ACCEPTED);
  });

  it("Retry-After is told in milliseconds, as seconds and as a date", () => {
    const asked = (value: string) =>
      scheme.classify({ status: 503, headers: [["Retry-After", value]] }, 1, NOW);
    const retry = { outcome: "retry", code: "RECEIVER_UNAVAILABLE" };
    expect(asked("120")).toEqual({ ...retry, retryAfterMs: 120_000 });
    expect(asked(new Date(NOW + 90_000).toUTCString())).toEqual({ ...retry, retryAfterMs: 90_000 });
    expect(asked(new Date(NOW - 90_000).toUTCString())).toEqual({ ...retry, retryAfterMs: 0 });
    expect(asked("soon")).toEqual(retry);
  });
});
