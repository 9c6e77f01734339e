// Completes an auth config.
import { completed, type Schemas } from "../api/validation.js";

type AuthConfig = Schemas["AuthConfig"];

/** Which type a provider's member goes with (specification 2.2). `google` is last: it may stand next to another. */
const TYPES = {
  microsoft: "AUTH_CONFIG_PROVIDER_TYPE_MICROSOFT",
  okta: "AUTH_CONFIG_PROVIDER_TYPE_OKTA",
  onelogin: "AUTH_CONFIG_PROVIDER_TYPE_ONELOGIN",
  jumpcloud: "AUTH_CONFIG_PROVIDER_TYPE_JUMPCLOUD",
  pingone: "AUTH_CONFIG_PROVIDER_TYPE_PINGONE",
  oidc: "AUTH_CONFIG_PROVIDER_TYPE_OIDC",
  svcLocal: "AUTH_CONFIG_PROVIDER_TYPE_SVC_LOCAL",
  google: "AUTH_CONFIG_PROVIDER_TYPE_GOOGLE",
} as const;

/** An auth config with what it lacks; its type, where none is given, is that of its provider. */
export function completeAuthConfig(given: Partial<AuthConfig>): AuthConfig {
  const member = (Object.keys(TYPES) as (keyof typeof TYPES)[]).find((name) => given[name] !== undefined);
  return completed("AuthConfig", { ...(member ? { providerType: TYPES[member] } : {}), ...given });
}
