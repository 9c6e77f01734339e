// The auth configs of a seed.
import type { Fixture } from "../fixture.js";
import { draw } from "./draw.js";

type AuthConfig = NonNullable<Fixture["authConfigs"]>[number];

const oidcClient = (name: string) => ({
  oidcClientId: `${name}-client`,
  oidcClientSecret: `${name}-client-secret`,
});

/** One of each provider kind; the last two are deprecated and disabled. */
const PROVIDERS: readonly Omit<AuthConfig, "id" | "createdAt" | "updatedAt">[] = [
  {
    displayName: "Google Workspace",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_GOOGLE",
    status: "AUTH_CONFIG_STATUS_ACTIVE",
    bootstrapDomains: ["example.com"],
    isDefaultBootstrap: true,
    google: { hostedDomains: ["example.com"], additionalHostedDomains: ["example.org"] },
  },
  {
    displayName: "Microsoft Entra ID",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_MICROSOFT",
    status: "AUTH_CONFIG_STATUS_ACTIVE",
    microsoft: { tenantIds: ["7c0b2e0e-6a2f-4a53-9d0d-2b4b9f6f8a11"] },
  },
  {
    displayName: "Okta",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_OKTA",
    status: "AUTH_CONFIG_STATUS_ACTIVE",
    okta: { domain: "example.okta.example", ...oidcClient("okta") },
  },
  {
    displayName: "PingOne",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_PINGONE",
    status: "AUTH_CONFIG_STATUS_ACTIVE",
    pingone: { environmentId: "3f1d7d52-0f0e-4a55-8d6c-5f1f4f9d2c33", ...oidcClient("pingone") },
  },
  {
    displayName: "Company single sign-on",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_OIDC",
    status: "AUTH_CONFIG_STATUS_ACTIVE",
    oidc: {
      issuerId: "https://sso.example.com",
      ...oidcClient("sso"),
      scopes: ["openid", "email", "profile"],
      exactMatchClaims: { email_verified: true },
    },
  },
  {
    displayName: "Local accounts",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_SVC_LOCAL",
    status: "AUTH_CONFIG_STATUS_ACTIVE",
    svcLocal: { delegatedVerifiers: ["DELEGATED_VERIFIER_TYPE_GOOGLE", "DELEGATED_VERIFIER_TYPE_GITHUB"] },
  },
  {
    displayName: "OneLogin",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_ONELOGIN",
    status: "AUTH_CONFIG_STATUS_DEPRECATED",
    deprecationDeadline: "2027-01-01T00:00:00.000Z",
    deprecationMessage: "Sign in with Okta instead.",
    onelogin: { domain: "example.onelogin.example", ...oidcClient("onelogin") },
  },
  {
    displayName: "JumpCloud",
    providerType: "AUTH_CONFIG_PROVIDER_TYPE_JUMPCLOUD",
    status: "AUTH_CONFIG_STATUS_DISABLED",
    jumpcloud: oidcClient("jumpcloud"),
  },
];

export function authConfigs(seed: number, start: number): AuthConfig[] {
  return PROVIDERS.map((provider, n) => {
    const at = new Date(start + n * 1_000).toISOString();
    return { id: draw(seed, "auth config", n).id, ...provider, createdAt: at, updatedAt: at };
  });
}
