// The operation on bridge credentials (specification 4.9).
import type { ServiceContext } from "../../server/service-context.js";
import { BEFORE_ALL, createdAt } from "../../storage/document.js";
import type { CredentialPosition } from "../../storage/tunnel-credentials.js";
import { notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";

/** Operation 4.9. */
export function tunnelHandlers({
  storage,
  pageTokens,
}: Pick<ServiceContext, "storage" | "pageTokens">): Pick<Handlers, "listBridgeCredentials"> {
  return {
    listBridgeCredentials({ path: { bridge_id: bridge }, query }) {
      if (!storage.tunnelCredentials.hasBridge(bridge)) throw notFound("bridge");
      return pageTokens.page({
        of: ["listBridgeCredentials", bridge],
        pageSize: query.pageSize,
        pageToken: query.pageToken,
        start: [BEFORE_ALL, ""] as CredentialPosition,
        find: (after, limit) => storage.tunnelCredentials.list(bridge, after, limit),
        position: (credential): CredentialPosition => [createdAt(credential), credential.id],
      });
    },
  };
}
