// Operations of the remote control.
import type { ServiceContext } from "../../server/service-context.js";
import { StateError } from "../../state/state-error.js";
import { rowCount } from "../../storage/all-rows.js";
import { timestamp } from "../../storage/document.js";
import { ApiError, notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";
import { refuseMisspelt } from "../journal-filter.js";
import { FAULT_OPERATION_IDS, type OperationId } from "../operations.js";
import type { Schemas } from "../validation.js";

/** An answer is one text in memory. */
const MAX_ROWS = 50_000;

/** What a reset brings back to its beginning. */
type Resettable = Pick<ServiceContext, "faults" | "clock" | "journal" | "state">;

/** The remote control of the local service. */
export function controlHandlers(context: Resettable & Pick<ServiceContext, "snapshots" | "storage">) {
  return {
    ...faultHandlers(context),
    ...clockHandlers(context),
    ...stateHandlers(context),
    ...journalHandlers(context),
  };
}

function faultHandlers({
  faults,
}: Pick<ServiceContext, "faults">): Pick<
  Handlers,
  "listFaults" | "clearFaults" | "putFault" | "deleteFault"
> {
  return {
    listFaults: () => ({ list: faults.list() as Schemas["ListFaultsResponse"]["list"] }),
    clearFaults() {
      faults.reset("none");
      return {};
    },
    putFault({ path, body }) {
      within(() => faults.set(operationOf(path.operation_id), body));
      return {};
    },
    deleteFault({ path }) {
      faults.set(operationOf(path.operation_id), undefined);
      return {};
    },
  };
}

function clockHandlers({ clock }: Pick<ServiceContext, "clock">): Pick<Handlers, "getClock" | "moveClock"> {
  const shownClock = () => ({ now: timestamp(clock.now()), frozen: clock.isFrozen });
  return {
    getClock: shownClock,
    moveClock({ body }) {
      within(() => clock.move(body));
      return shownClock();
    },
  };
}

function stateHandlers(
  context: Resettable & Pick<ServiceContext, "snapshots" | "storage">,
): Pick<
  Handlers,
  "resetService" | "listSnapshots" | "saveSnapshot" | "deleteSnapshot" | "restoreSnapshot" | "exportState"
> {
  const { clock, snapshots, state, storage } = context;
  return {
    async resetService() {
      await resetAll(context);
      return {};
    },
    listSnapshots: () => ({
      list: snapshots.list().map(({ name, createdAt }) => ({ name, createdAt: timestamp(createdAt) })),
    }),
    async exportState({ body }) {
      if (rowCount(storage) > MAX_ROWS)
        throw new ApiError(
          "invalid-argument",
          `The state has more than ${MAX_ROWS} rows; hookproof service export reads it from its database.`,
        );
      try {
        return (await state.export(body)) as Record<string, unknown>;
      } catch (error) {
        if (error instanceof StateError) throw new ApiError("invalid-argument", error.message);
        throw error;
      }
    },
    async saveSnapshot({ path }) {
      await state.keepingAdmin(() => snapshots.save(path.name, clock.now()));
      return {};
    },
    deleteSnapshot({ path }) {
      if (!snapshots.remove(path.name)) throw notFound("snapshot");
      return {};
    },
    async restoreSnapshot({ path }) {
      if (!(await state.keepingAdmin(() => snapshots.restore(path.name)))) throw notFound("snapshot");
      return {};
    },
  };
}

function journalHandlers({
  journal,
}: Pick<ServiceContext, "journal">): Pick<Handlers, "clearJournal" | "searchJournal"> {
  return {
    clearJournal() {
      journal.clear();
      return {};
    },
    searchJournal({ body }) {
      refuseMisspelt(body);
      const list = journal.search(body).map(({ isFault, time, ...entry }) => ({
        ...entry,
        time: timestamp(time),
        fault: isFault,
      }));
      return { count: list.length, list };
    },
  };
}

/** Takes everything back to the start: state, faults, clock and journal. */
export async function resetAll({ faults, clock, journal, state }: Resettable): Promise<void> {
  clock.reset();
  await state.reset();
  faults.reset("start");
  journal.clear();
}

function operationOf(name: string): OperationId {
  const found = FAULT_OPERATION_IDS.find((id) => id === name);
  if (found === undefined) throw notFound("operation that can go wrong");
  return found;
}

/** Numbers that are out of range are the caller's mistake. */
function within(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError)
      throw new ApiError("invalid-argument", `${error.message}.`);
    throw error;
  }
}
