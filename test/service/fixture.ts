import type { Fixture } from "hookproof-service";

/** One of everything the service holds, in every shape the document gives it. */
export const FIXTURE: Fixture = {
  users: [
    {
      id: "user-ada",
      displayName: "Ada",
      email: "ada@example.com",
      department: "Research",
      emails: ["ada@example.com", "ada@example.org"],
      status: "ENABLED",
      type: "USER_TYPE_HUMAN",
      profile: { team: "blue", remote: true, level: 3, skills: ["maths", "looms"] },
      departmentSources: [{ appId: "app-1", appUserId: "au-1", priority: 1, value: "Research" } as never],
    },
    {
      id: "user-bob",
      displayName: "Bob",
      email: "bob@example.com",
      department: "Sales",
      profile: { team: "red" },
    },
    { id: "user-cyd", displayName: "Cyd", email: "cyd@example.com", department: "Sales" },
  ],
  authConfigs: [
    { id: "ac-microsoft", microsoft: { tenantIds: ["t-1"] } },
    { id: "ac-okta", okta: { domain: "example.com", oidcClientId: "c", oidcClientSecret: "hunter2" } },
    {
      id: "ac-onelogin",
      onelogin: { domain: "example.com", oidcClientId: "c", oidcClientSecret: "hunter2" },
    },
    { id: "ac-jumpcloud", jumpcloud: { oidcClientId: "c", oidcClientSecret: "hunter2" } },
    { id: "ac-pingone", pingone: { environmentId: "e", oidcClientId: "c", oidcClientSecret: "hunter2" } },
    {
      id: "ac-oidc",
      displayName: "Staff",
      providerType: "AUTH_CONFIG_PROVIDER_TYPE_OIDC",
      status: "AUTH_CONFIG_STATUS_DEPRECATED",
      bootstrapDomains: ["example.com"],
      isDefaultBootstrap: true,
      deprecationDeadline: "2026-12-31T00:00:00Z",
      deprecationMessage: "Move on.",
      createdAt: "2026-01-01T00:00:00Z",
      updatedAt: "2026-01-02T00:00:00Z",
      oidc: {
        issuerId: "https://issuer.example.com",
        oidcClientId: "c",
        oidcClientSecret: "hunter2",
        scopes: ["openid"],
        exactMatchClaims: { hd: "example.com" },
      },
      google: { hostedDomains: ["example.com"], additionalHostedDomains: [] },
    },
    { id: "ac-local", svcLocal: { delegatedVerifiers: ["DELEGATED_VERIFIER_TYPE_GITHUB", "OF_TOMORROW"] } },
  ],
  apps: [
    {
      id: "app-1",
      resourceTypes: [
        { id: "rt-manual", displayName: "Door", traitIds: ["role"] },
        { id: "rt-synced", displayName: "Group", manuallyManaged: false },
      ],
      entitlements: [
        {
          id: "ent-1",
          displayName: "Keys",
          grantCount: "12345678901234567890",
          durationGrant: "3600s",
          annotations: { of: "interest" },
          provisionerPolicy: { manual: { assignee: { users: { userIds: ["user-ada"] } } } } as never,
          deprovisionerPolicy: { unconfigured: {} },
        },
      ],
      entitlementOwners: [{ roleSlug: "owner", appId: "app-1", entitlementId: "ent-1" }],
      users: [
        {
          id: "au-1",
          owners: [
            { roleSlug: "owner", userId: "user-ada" },
            { roleSlug: "deputy", userId: "user-bob" },
          ],
        },
      ],
    },
  ],
  suggestions: [{ id: "cohort-1", userIds: ["user-cyd", "user-bob", "user-ada"] }],
  bridges: [
    {
      id: "bridge-1",
      credentials: [
        {
          id: "cred-1",
          clientId: "tunnel-1",
          clientSecret: "hunter2",
          credentialStatus: "TUNNEL_CREDENTIAL_STATUS_ACTIVE",
          createdAt: "2026-01-01T00:00:00Z",
        },
        {
          id: "cred-2",
          credentialStatus: "TUNNEL_CREDENTIAL_STATUS_REVOKED",
          createdAt: "2026-01-02T00:00:00Z",
          revokedAt: "2026-01-03T00:00:00Z",
        },
      ],
    },
  ],
};
