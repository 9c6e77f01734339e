// The operation on role mining (specification 4.5).
import type { ServiceContext } from "../../server/service-context.js";
import type { CohortPosition } from "../../storage/cohorts.js";
import { userFilter } from "../../storage/user-filter.js";
import { notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";

/** Operation 4.5. */
export function roleMiningHandlers({
  storage,
  pageTokens,
}: Pick<ServiceContext, "storage" | "pageTokens">): Pick<Handlers, "searchCohortUsers"> {
  return {
    searchCohortUsers({ path: { suggestion_id: suggestion }, body }) {
      if (!storage.cohorts.has(suggestion)) throw notFound("suggestion");
      const filters = (body.profileFilters ?? []).map(({ attribute, values = [] }) =>
        userFilter(attribute, values),
      );
      const page = pageTokens.page({
        of: ["searchCohortUsers", suggestion, body.profileFilters ?? []],
        pageSize: body.pageSize,
        pageToken: body.pageToken,
        start: ["", ""] as CohortPosition,
        find: (after, limit) => storage.cohorts.search(suggestion, filters, after, limit),
        position: (user): CohortPosition => [user.displayName, user.id],
      });
      return { ...page, usersWithCoverage: [] };
    },
  };
}
