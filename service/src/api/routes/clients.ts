// Operations on clients.
import { publicJwkProblem } from "../../auth/client-authentication.js";
import { hashClientSecret } from "../../auth/client-secret.js";
import type { ServiceContext } from "../../server/service-context.js";
import { ApiError, invalidField } from "../errors.js";
import type { Handlers } from "../handlers.js";
import { requireUser } from "./require-user.js";

/** Clients, of the local administration. */
export function clientHandlers({
  storage,
  clock,
}: Pick<ServiceContext, "storage" | "clock">): Pick<Handlers, "createClient"> {
  return {
    async createClient({ body }) {
      const { id, secret, publicJwk, displayName = "", role = "member", userId = "" } = body;
      const problem = publicJwkProblem(publicJwk);
      if (problem !== undefined) throw invalidField("publicJwk", problem);
      const secretHash = secret === undefined ? undefined : await hashClientSecret(secret);
      if (userId !== "") requireUser(storage, "userId", userId);
      if (storage.clients.get(id)) throw new ApiError("already-exists", "There is a client of this id.");
      storage.clients.put({
        clientId: id,
        createdAt: clock.now(),
        displayName,
        role,
        userId,
        secretHash,
        publicJwk: publicJwk === undefined ? undefined : JSON.stringify(publicJwk),
      });
      return { id };
    },
  };
}
