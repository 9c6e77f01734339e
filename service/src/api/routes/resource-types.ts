// The operation on resource types (specification 4.4).
import type { ServiceContext } from "../../server/service-context.js";
import { timestamp } from "../../storage/document.js";
import { ApiError, notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";
import { maskedFields } from "./update-mask.js";

const FIELDS = ["displayName", "traitIds"] as const;

/** Operation 4.4. */
export function resourceTypeHandlers({
  storage,
  clock,
}: Pick<ServiceContext, "storage" | "clock">): Pick<Handlers, "updateResourceType"> {
  return {
    updateResourceType: ({ path, body }) =>
      storage.db.transaction(() => {
        const stored = storage.resourceTypes.get(path.app_id, path.id);
        if (!stored) throw notFound("resource type");
        const given = body.appResourceType ?? {};
        const fields = maskedFields(body.updateMask ?? "", FIELDS, "appResourceType", given);
        if (!stored.manuallyManaged) {
          throw new ApiError("invalid-argument", "The resource type is not manually managed.");
        }
        const appResourceType = { ...stored.resourceType, updatedAt: timestamp(clock.now()) };
        if (fields.has("displayName")) appResourceType.displayName = given.displayName ?? "";
        if (fields.has("traitIds")) appResourceType.traitIds = given.traitIds ?? [];
        storage.resourceTypes.update(appResourceType);
        return { appResourceType, expanded: [] };
      }),
  };
}
