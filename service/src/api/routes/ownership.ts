// Operations on ownership (specification 4.7 and 4.8).
import type { ServiceContext } from "../../server/service-context.js";
import { BEFORE_ALL, instant } from "../../storage/document.js";
import type { OwnerPosition } from "../../storage/owners.js";
import { notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";

/** Operations 4.7 and 4.8. */
export function ownershipHandlers({
  storage,
  pageTokens,
}: Pick<ServiceContext, "storage" | "pageTokens">): Pick<
  Handlers,
  "getEntitlementOwner" | "searchUserOwners"
> {
  return {
    getEntitlementOwner({ path }) {
      const appOwnerEntitlement = storage.owners.getEntitlementOwner({
        appId: path.app_id,
        roleSlug: path.role_slug,
        entitlementAppId: path.app_entitlement_ref_app_id,
        entitlementId: path.app_entitlement_ref_id,
      });
      if (!appOwnerEntitlement) throw notFound("entitlement owner");
      return { appOwnerEntitlement };
    },
    searchUserOwners({ path: { app_id: appId, user_id: appUserId }, query }) {
      const of = { appId, appUserId, roleSlug: query.roleSlug ?? "" };
      return pageTokens.page({
        of: ["searchUserOwners", of],
        pageSize: query.pageSize,
        pageToken: query.pageToken,
        start: [BEFORE_ALL, "", ""] as OwnerPosition,
        find: (after, limit) => storage.owners.searchUserOwners(of, after, limit),
        position: ({ createdAt = "", userId, roleSlug }): OwnerPosition => [
          instant(createdAt),
          userId,
          roleSlug,
        ],
      });
    },
  };
}
