// Events to try an automation with; those of `hookproof send --event`.

/** What is sent where nobody says what. */
export const FIRST_EXAMPLE = "user.offboarded";

/** Example bodies by their type. The service prescribes no type: a body is any JSON. */
export const EXAMPLES: Readonly<Record<string, object>> = {
  "user.onboarded": {
    type: "user.onboarded",
    userId: "u_123",
    email: "mara@example.com",
    department: "Support",
    startsAt: "2026-02-01",
  },
  "user.moved": { type: "user.moved", userId: "u_123", from: "Support", to: "Sales" },
  "user.offboarded": { type: "user.offboarded", userId: "u_123" },
  "access.requested": { type: "access.requested", userId: "u_123", appId: "app_7", role: "viewer" },
  "access.revoked": { type: "access.revoked", userId: "u_123", appId: "app_7", reason: "project ended" },
  "device.lost": { type: "device.lost", userId: "u_123", deviceId: "dev_42" },
  "session.revoked": {
    events: {
      "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {
        event_timestamp: 1_767_225_600,
        initiating_entity: "policy",
      },
    },
    sub_id: { format: "email", email: "mara@example.com" },
  },
};
