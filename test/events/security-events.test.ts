// The URIs of the published event types: a type that is spelt otherwise than in its standard is ignored by every receiver.
import { CAEP, RISC, SCIM, SSF, securityEvent } from "hookproof/set";
import { describe, expect, it } from "vitest";
import { isObject } from "../../src/core/json.js";
import { eventsFault } from "../../src/events/security-events.js";

/** As the standards write them, in whole: nothing here is made of parts. */
const PUBLISHED = {
  // OpenID Continuous Access Evaluation Profile 1.0, sections 3.1 to 3.8.
  CAEP: {
    sessionRevoked: "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
    tokenClaimsChange: "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
    credentialChange: "https://schemas.openid.net/secevent/caep/event-type/credential-change",
    assuranceLevelChange: "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
    deviceComplianceChange: "https://schemas.openid.net/secevent/caep/event-type/device-compliance-change",
    sessionEstablished: "https://schemas.openid.net/secevent/caep/event-type/session-established",
    sessionPresented: "https://schemas.openid.net/secevent/caep/event-type/session-presented",
    riskLevelChange: "https://schemas.openid.net/secevent/caep/event-type/risk-level-change",
  },
  // OpenID RISC Profile 1.0, section 2, without sessions-revoked, which it deprecates for that of CAEP.
  RISC: {
    accountCredentialChangeRequired:
      "https://schemas.openid.net/secevent/risc/event-type/account-credential-change-required",
    accountPurged: "https://schemas.openid.net/secevent/risc/event-type/account-purged",
    accountDisabled: "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
    accountEnabled: "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
    identifierChanged: "https://schemas.openid.net/secevent/risc/event-type/identifier-changed",
    identifierRecycled: "https://schemas.openid.net/secevent/risc/event-type/identifier-recycled",
    credentialCompromise: "https://schemas.openid.net/secevent/risc/event-type/credential-compromise",
    optIn: "https://schemas.openid.net/secevent/risc/event-type/opt-in",
    optOutInitiated: "https://schemas.openid.net/secevent/risc/event-type/opt-out-initiated",
    optOutCancelled: "https://schemas.openid.net/secevent/risc/event-type/opt-out-cancelled",
    optOutEffective: "https://schemas.openid.net/secevent/risc/event-type/opt-out-effective",
    recoveryActivated: "https://schemas.openid.net/secevent/risc/event-type/recovery-activated",
    recoveryInformationChanged:
      "https://schemas.openid.net/secevent/risc/event-type/recovery-information-changed",
  },
  // RFC 9967, sections 2.3 to 2.5.
  SCIM: {
    feedAdd: "urn:ietf:params:scim:event:feed:add",
    feedRemove: "urn:ietf:params:scim:event:feed:remove",
    createNotice: "urn:ietf:params:scim:event:prov:create:notice",
    createFull: "urn:ietf:params:scim:event:prov:create:full",
    patchNotice: "urn:ietf:params:scim:event:prov:patch:notice",
    patchFull: "urn:ietf:params:scim:event:prov:patch:full",
    putNotice: "urn:ietf:params:scim:event:prov:put:notice",
    putFull: "urn:ietf:params:scim:event:prov:put:full",
    delete: "urn:ietf:params:scim:event:prov:delete",
    activate: "urn:ietf:params:scim:event:prov:activate",
    deactivate: "urn:ietf:params:scim:event:prov:deactivate",
    asyncResponse: "urn:ietf:params:scim:event:misc:asyncresp",
  },
};

it("every published type has the URI of its standard, and there is no other", () => {
  expect({ CAEP, RISC, SCIM }).toEqual(PUBLISHED);
  // OpenID Shared Signals Framework 1.0, sections 8.1.4 and 8.1.5.
  expect(SSF).toEqual({
    verification: "https://schemas.openid.net/secevent/ssf/event-type/verification",
    streamUpdated: "https://schemas.openid.net/secevent/ssf/event-type/stream-updated",
  });
});

describe("an event of a published type", () => {
  const types = [CAEP, RISC, SCIM, SSF].flatMap((one) => Object.values<string>(one));

  it("is taken, under its URI and next to what it is about", () => {
    expect(types).toHaveLength(35);
    const about = { sub_id: { format: "opaque", id: "u_1" }, txn: "t_1", toe: 1_767_225_600 };
    for (const type of types)
      expect(securityEvent<string>(type, { n: 1 }, about)).toEqual({
        events: { [type]: { n: 1 } },
        ...about,
      });
  });
});

it("only an object is an object: neither a list, nothing, nor a text", () => {
  expect([{}, { n: 1 }, Object.create(null)].map(isObject)).toEqual([true, true, true]);
  expect([[], null, undefined, "{}", 1, true].map(isObject)).toEqual(Array(6).fill(false));
});

it.each([
  ["https://events.example.com/happened", true],
  ["urn:example:happened", true],
  ["x-own+1.0:a", true],
  ["HTTPS://events.example.com/", true],
  ["session-revoked", false],
  ["", false],
  [":", false],
  ["urn:", false],
  ["1urn:a", false],
  ["urn:a b", false],
  ["urn:a\n", false],
  [" urn:a", false],
  ["urn:ä", false],
])("the type %j is taken: %s", (type, isTaken) => {
  const made = () => securityEvent<string>(type, {});
  if (isTaken) expect(made()).toEqual({ events: { [type]: {} } });
  else expect(made).toThrow("The claim events has a name that is not a URI.");
});

const manyEvents = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`urn:e:${n}`, {}]));

it.each<[what: string, events: unknown, fault: string | undefined]>([
  ["sixteen events", manyEvents(16), undefined],
  ["more than that", manyEvents(17), "more than 16 events"],
  ["no event", {}, "no event"],
  ["nothing", null, "no object"],
  ["a text", "urn:e", "no object"],
  ["a list", [{}], "a list, and not an object"],
  ["one name of two that is no URI", { "urn:e:1": {}, e2: {} }, "a name that is not a URI"],
  ["one value of two that is no object", { "urn:e:1": {}, "urn:e:2": [] }, "a value that is not an object"],
])("the fault of %s", (_, events, fault) => {
  expect(eventsFault(events)).toBe(fault);
});
