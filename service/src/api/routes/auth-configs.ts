// Operations on auth configs (specification 4.2 and 4.3).
import type { ServiceContext } from "../../server/service-context.js";
import { notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";

/** Operations 4.2 and 4.3. */
export function authConfigHandlers({
  storage,
}: Pick<ServiceContext, "storage">): Pick<Handlers, "getAuthConfig" | "deleteAuthConfig"> {
  return {
    getAuthConfig({ path }) {
      const authConfig = storage.authConfigs.get(path.id);
      if (!authConfig) throw notFound("auth config");
      return { authConfig };
    },
    deleteAuthConfig({ path }) {
      if (!storage.authConfigs.delete(path.id)) throw notFound("auth config");
      return {};
    },
  };
}
