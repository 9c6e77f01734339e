import { httpSignatureSigner } from "hookproof/http-signature";
import { CAEP, RISC, SCIM } from "hookproof/set";
import { describe, expect, it } from "vitest";

describe("RFC 9530", () => {
  it("has the Content-Digest of its example", async () => {
    const signer = httpSignatureSigner({ secret: "a secret that both sides know: 32 bytes", keyId: "k1" });
    const { headers } = await signer.sign({
      url: "https://hooks.example.com/in",
      timestamp: "1767225600",
      eventId: "evt-1",
      body: Buffer.from('{"hello": "world"}\n'),
    });
    expect(Object.fromEntries(headers)["Content-Digest"]).toBe(
      "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:",
    );
  });
});

describe("event types", () => {
  it("are those that RFC 9967 registers", () => {
    const base = "urn:ietf:params:scim:event:";
    const prov = ["create", "patch", "put"].flatMap((one) => [`prov:${one}:notice`, `prov:${one}:full`]);
    const others = ["prov:delete", "prov:activate", "prov:deactivate", "misc:asyncresp"];
    const all = ["feed:add", "feed:remove", ...prov, ...others].map((one) => base + one);
    expect(Object.values(SCIM)).toEqual(all);
  });

  it("are those of CAEP 1.0 and RISC 1.0", () => {
    const namesOf = (types: object) => Object.values(types).map((uri: string) => uri.split("/").at(-1));
    expect(namesOf(CAEP)).toEqual([
      ...["session-revoked", "token-claims-change", "credential-change", "assurance-level-change"],
      ...["device-compliance-change", "session-established", "session-presented", "risk-level-change"],
    ]);
    expect(namesOf(RISC)).toEqual([
      ...["account-credential-change-required", "account-purged", "account-disabled", "account-enabled"],
      ...["identifier-changed", "identifier-recycled", "credential-compromise", "opt-in"],
      ...["opt-out-initiated", "opt-out-cancelled", "opt-out-effective", "recovery-activated"],
      "recovery-information-changed",
    ]);
    for (const uri of Object.values({ ...CAEP, ...RISC }))
      expect(uri).toMatch(/^https:\/\/schemas\.openid\.net\/secevent\/(caep|risc)\/event-type\/[a-z-]+$/);
  });
});
