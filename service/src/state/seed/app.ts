// The app of a seed.
import type { FixtureApp } from "../fixture.js";
import { idsOf } from "./draw.js";

type Entitlement = NonNullable<FixtureApp["entitlements"]>[number];

/** More than one page of them. */
const OWNERS = 30;

/** The one app of a seed: its resource types, entitlements, and who owns it and its user. */
export function app(seed: number, users: number, start: number): FixtureApp {
  const idOf = idsOf(seed);
  const id = idOf("app");
  const at = (n: number) => ({ createdAt: new Date(start + n * 1_000).toISOString() });
  return {
    id,
    displayName: "Billing",
    ...at(0),
    // The last one comes from a directory, and cannot be updated by hand.
    resourceTypes: ["Role", "Group", "Licence"].map((displayName, n) => ({
      id: idOf("resource type", n),
      displayName,
      traitIds: [idOf("trait", n)],
      manuallyManaged: n < 2,
      ...at(n),
    })),
    entitlements: ENTITLEMENTS.map((entitlement, n) => ({
      id: idOf("entitlement", n),
      appResourceTypeId: idOf("resource type"),
      appResourceId: idOf("resource", n),
      grantCount: String(users),
      ...entitlement,
      ...at(n),
    })),
    entitlementOwners: [
      { roleSlug: "app_owner", appId: id, entitlementId: idOf("entitlement"), ...at(0) },
      { roleSlug: "app_reviewer", appId: id, entitlementId: idOf("entitlement", 1), ...at(1) },
    ],
    // Some of them are administrators as well.
    grants: Array.from({ length: Math.min(users, OWNERS) }, (_, n) => [
      { entitlementId: idOf("entitlement", 1), userId: idOf("user", n), ...at(n) },
      ...(n % 10 === 0 ? [{ entitlementId: idOf("entitlement"), userId: idOf("user", n), ...at(n) }] : []),
    ]).flat(),
    users: [
      {
        id: idOf("app user"),
        displayName: "billing-robot",
        ...at(0),
        owners: Array.from({ length: Math.min(users, OWNERS) }, (_, n) => ({
          roleSlug: n % 3 === 0 ? "app_user_owner" : "app_user_reviewer",
          userId: idOf("user", n),
          ...at(n),
        })),
      },
    ],
  };
}

const ENTITLEMENTS: readonly Omit<Entitlement, "id">[] = [
  {
    displayName: "Administrator",
    alias: "billing_admin",
    slug: "administrator",
    description: "Manages the app.",
    purpose: "APP_ENTITLEMENT_PURPOSE_VALUE_ASSIGNMENT",
    durationGrant: "3600s",
    isManuallyManaged: true,
    provisionerPolicy: {
      manual: {
        instructions: "Add the user to the group of administrators.",
        userIds: [],
        assignee: { appOwners: { allowReassignment: true, fallbackUserIds: [] } },
      },
    },
  },
  {
    displayName: "Member",
    alias: "billing_member",
    slug: "member",
    description: "Uses the app.",
    purpose: "APP_ENTITLEMENT_PURPOSE_VALUE_PERMISSION",
    durationUnset: {},
    provisionerPolicy: { unconfigured: {} },
  },
];
