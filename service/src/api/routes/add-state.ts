// The operation that adds to the state.
import type { ServiceContext } from "../../server/service-context.js";
import type { Fixture } from "../../state/fixture.js";
import { FixtureError } from "../../state/fixture-error.js";
import { ApiError } from "../errors.js";
import type { Handlers } from "../handlers.js";
import { badRequest } from "../validation.js";

/** Additions to the state, of the local administration. */
export function addStateHandlers({ state }: Pick<ServiceContext, "state">): Pick<Handlers, "addState"> {
  return {
    async addState({ body }) {
      try {
        await state.add(body as Fixture);
      } catch (error) {
        if (error instanceof FixtureError) throw badRequest(error.problems);
        if (isConstraint(error)) throw new ApiError("already-exists", "One of these is there already.");
        throw error;
      }
      return {};
    },
  };
}

/** An id that is there already breaks a rule of the database, and nothing is added. */
function isConstraint(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return String(code).startsWith("SQLITE_CONSTRAINT") || /UNIQUE constraint failed/.test(String(message));
}
