// What a fixture holds, in the words of the API.
import type { Schemas } from "../api/validation.js";
import type { Role } from "../auth/principal.js";

/** A resource with an id, and as much else of it as matters; the rest gets its default. */
type Given<Resource, Required extends keyof Resource> = Partial<Resource> & Pick<Resource, Required>;

interface Named {
  id: string;
  displayName?: string | undefined;
  /** ISO 8601. */
  createdAt?: string | undefined;
}

/** The version of the form of fixtures that this release writes, and the only one that it reads. */
export const FIXTURE_VERSION = 1;

/** What the service holds at the start, in the words of the API. */
export interface Fixture {
  /** The version of this form, 1; an export has it, and a file without it is of this one. */
  version?: number | undefined;
  users?: Given<Schemas["User"], "id">[] | undefined;
  clients?: FixtureClient[] | undefined;
  authConfigs?: Given<Schemas["AuthConfig"], "id">[] | undefined;
  apps?: FixtureApp[] | undefined;
  suggestions?: (Named & { /** Users of the cohort, by id. */ userIds?: string[] | undefined })[] | undefined;
  secrets?: FixtureSecret[] | undefined;
  automations?: FixtureAutomation[] | undefined;
  bridges?: (Named & { credentials?: Given<Schemas["TunnelCredential"], "id">[] | undefined })[] | undefined;
}

/** One of a list of a fixture. */
export type FixtureOf<List extends keyof Fixture> =
  NonNullable<Fixture[List]> extends readonly (infer One)[] ? One : never;

/** A client by its secret; what is stored is a hash of it. */
export interface FixtureClient {
  id: string;
  secret?: string | undefined;
  /** What an export has in the place of the secret: its salted scrypt hash. */
  secretHash?: string | undefined;
  /** An Ed25519 JWK, for a client that proves itself by assertions. */
  publicJwk?: Record<string, unknown> | undefined;
  displayName?: string | undefined;
  role?: Role | undefined;
  /** The user it acts as. */
  userId?: string | undefined;
}

/** A paper secret with its content, which is a text or a file; one that is revoked or used up needs none. */
export interface FixtureSecret extends Partial<Schemas["SecretInput"]> {
  id: string;
  creatorUserId: string;
  createdAt?: string | undefined;
  revokedAt?: string | undefined;
}

/** An app with what belongs to it. */
export interface FixtureApp extends Named {
  resourceTypes?:
    | (Given<Schemas["AppResourceType"], "id"> & { manuallyManaged?: boolean | undefined })[]
    | undefined;
  entitlements?: Given<Schemas["AppEntitlement"], "id">[] | undefined;
  /** Entitlements whose holders own the app. */
  entitlementOwners?:
    | { roleSlug: string; appId: string; entitlementId: string; createdAt?: string | undefined }[]
    | undefined;
  /** Who holds which of the app's entitlements. */
  grants?: { entitlementId: string; userId: string; createdAt?: string | undefined }[] | undefined;
  users?:
    | (Named & {
        /** Users who own the app user. */
        owners?: { roleSlug: string; userId: string; createdAt?: string | undefined }[] | undefined;
      })[]
    | undefined;
}

/** An automation; what is generated otherwise may be given. */
export interface FixtureAutomation extends AutomationInput {
  id?: string | undefined;
  listenerId?: string | undefined;
  /** The secret of an HMAC trigger. */
  signingSecret?: string | undefined;
  createdAt?: string | undefined;
  updatedAt?: string | undefined;
}

type AutomationInput = Schemas["AutomationInput"];
