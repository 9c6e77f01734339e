// Ready-made calls of every operation over the stored state, for tests and pages.
import { INGESTION_PATH } from "../server/listener-path.js";
import { requireDatabase, withState } from "../state/database-state.js";
import { examplePath } from "../storage/example-ids.js";
import { OPERATIONS, type OperationId } from "./operations.js";

/** An operation of the specification, with ids of the stored state. */
export interface ExampleRoute {
  /** Its section in the specification, such as `4.3`. */
  readonly section: string;
  readonly operation: OperationId;
  readonly method: string;
  readonly url: string;
  readonly summary: string;
  /** A body it can be called with; absent where it takes none. */
  readonly exampleBody?: unknown;
}

/** What the listener of an example takes: its URL and the secret that webhooks are signed with. */
export interface ExampleListener {
  readonly url: string;
  readonly secret: string;
}

/** A reader who nobody is; put in your own to read what comes back. */
const SOMEBODY = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";

const BODIES: Partial<Record<OperationId, unknown>> = {
  viewSecret: { readerRecipient: SOMEBODY },
  deleteAuthConfig: {},
  updateResourceType: { appResourceType: { displayName: "Renamed" }, updateMask: "displayName" },
  searchCohortUsers: {
    pageSize: 10,
    profileFilters: [{ attribute: "department", values: ["Engineering", "Security"] }],
  },
  searchSecretAuditEvents: { pageSize: 10 },
  receiveWebhook: { type: "user.offboarded", userId: "u_123" },
};

/**
 * Every operation of the specification's section 4 that the state in a database can answer, ready to be called.
 *
 * @throws {StateError} DATABASE_MISSING
 *
 * @example
 * ```ts
 * import { exampleRoutes } from "hookproof-service";
 *
 * const routes = await exampleRoutes({ db: "service.db", baseUrl: "http://127.0.0.1:4420" });
 * ```
 */
export async function exampleRoutes({
  db,
  baseUrl,
}: {
  /** The service's database file. */
  db: string;
  /** The service's base URL, which the operations' URLs begin with. */
  baseUrl: string;
}): Promise<ExampleRoute[]> {
  requireDatabase(db);
  return withState({ db }, ({ storage }) =>
    OPERATIONS.flatMap(({ id, method, path, summary, description }): ExampleRoute[] => {
      const section = /Specification (4\.[0-9]+)/.exec(description)?.[1];
      const values = section === undefined ? undefined : examplePath(storage.db, id);
      if (section === undefined || values === undefined) return [];
      const filled = path.replace(/\{([a-z_]+)\}/g, (_, name: string) =>
        encodeURIComponent(values[name] ?? ""),
      );
      return [
        {
          section,
          operation: id,
          method: method.toUpperCase(),
          url: baseUrl + filled,
          summary,
          ...(id in BODIES ? { exampleBody: BODIES[id] } : {}),
        },
      ];
    }).sort((one, other) => Number(one.section.slice(2)) - Number(other.section.slice(2))),
  );
}

/** The HMAC listener of `exampleRoutes` with its secret, for programs that send to it from this machine. */
export async function exampleListener(options: {
  /** The service's database file. */
  db: string;
  /** The service's base URL, which the listener's URL begins with. */
  baseUrl: string;
}): Promise<ExampleListener | undefined> {
  requireDatabase(options.db);
  return withState({ db: options.db }, ({ storage }) => {
    const listenerId = examplePath(storage.db, "receiveWebhook")?.listener_id;
    const secret =
      listenerId === undefined ? undefined : storage.automations.ofListener(listenerId)?.hmacSecret;
    return secret === undefined
      ? undefined
      : { url: `${options.baseUrl}${INGESTION_PATH}${listenerId}`, secret };
  });
}
