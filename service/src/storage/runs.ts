// Runs of automations in the database.
import type { Step, StepResult } from "../automations/run-steps.js";
import { type Database, first } from "./database.js";

/** How far a run is. */
export type RunStatus =
  | "RUN_STATUS_PENDING"
  | "RUN_STATUS_RUNNING"
  | "RUN_STATUS_SUCCEEDED"
  | "RUN_STATUS_FAILED";

/** One run of an automation: an event that was accepted, and what became of it. */
export interface Run extends RunHead {
  /** The event's body, exactly as it arrived. */
  readonly body: string;
  /** The steps as they were when the event was accepted. */
  readonly steps: readonly Step[];
  /** What became of the steps so far, in order. */
  readonly results: readonly StepResult[];
}

/** A run without what can be large. */
export interface RunHead {
  readonly id: string;
  readonly automationId: string;
  readonly eventId: string;
  readonly status: RunStatus;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
}

/** Where a page starts: behind this run. */
export type RunPosition = readonly [createdAt: number, id: string];

/** The runs of automations. They are their own queue: what is not finished is still to be done. */
export interface Runs {
  add(run: Pick<Run, "id" | "automationId" | "eventId" | "body" | "steps" | "createdAt">): void;
  get(automationId: string, id: string): Run | undefined;
  /** The run that an event started. */
  ofEvent(automationId: string, eventId: string): Run | undefined;
  /** The runs of an automation, in the order their events were accepted. */
  list(automationId: string, after: RunPosition, limit: number): RunHead[];
  /** The automations that have a run that is not finished, the one with the oldest first. */
  unfinished(): string[];
  /** The oldest run of an automation that is not finished, begun now unless it was before. */
  begin(automationId: string, now: number): Run | undefined;
  /** Keeps the result of a step, unless it has one. */
  addResult(id: string, position: number, result: StepResult): void;
  /** Ends a run; false if it has been ended, or is gone. */
  finish(id: string, status: RunStatus, now: number): boolean;
}

const HEAD = "id, automation_id, event_id, status, created_at, started_at, finished_at";

/** The runs of a database. */
export function runs(db: Database): Runs {
  const insert = db.prepare(`INSERT INTO runs (id, automation_id, event_id, body, steps, status, created_at)
    VALUES (?, ?, ?, ?, ?, 'RUN_STATUS_PENDING', ?)`);
  const select = db.prepare("SELECT * FROM runs WHERE automation_id = ? AND id = ?");
  const selectOfEvent = db.prepare(
    "SELECT * FROM runs WHERE automation_id = ? AND event_id = ? ORDER BY created_at DESC LIMIT 1",
  );
  const selectPage = db.prepare(`SELECT ${HEAD} FROM runs
    WHERE automation_id = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`);
  const begin =
    db.prepare(`UPDATE runs SET status = 'RUN_STATUS_RUNNING', started_at = coalesce(started_at, ?)
    WHERE id = (SELECT id FROM runs WHERE automation_id = ? AND finished_at IS NULL
      ORDER BY created_at, id LIMIT 1) RETURNING *`);
  const selectUnfinished = db.prepare(`SELECT automation_id FROM runs WHERE finished_at IS NULL
    GROUP BY automation_id ORDER BY min(created_at), automation_id`);
  const selectResults = db.prepare("SELECT document FROM run_results WHERE run_id = ? ORDER BY position");
  const insertResult = db.prepare(`INSERT INTO run_results (run_id, position, document)
    SELECT id, ?, ? FROM runs WHERE id = ? ON CONFLICT DO NOTHING`);
  const finish = db.prepare(
    "UPDATE runs SET status = ?, finished_at = ? WHERE id = ? AND finished_at IS NULL RETURNING id",
  );
  const whole = (rows: unknown[]): Run | undefined => {
    const row = first<RunRow>(rows);
    if (!row) return undefined;
    const results = (selectResults.all(row.id) as { document: string }[]).map(
      ({ document }) => JSON.parse(document) as StepResult,
    );
    return { ...headOf(row), body: row.body, steps: JSON.parse(row.steps), results };
  };
  return {
    add: ({ id, automationId, eventId, body, steps, createdAt }) =>
      void insert.all(id, automationId, eventId, body, JSON.stringify(steps), createdAt),
    get: (automationId, id) => whole(select.all(automationId, id)),
    ofEvent: (automationId, eventId) => whole(selectOfEvent.all(automationId, eventId)),
    list: (automationId, after, limit) =>
      (selectPage.all(automationId, ...after, limit) as RunRow[]).map(headOf),
    unfinished: () => (selectUnfinished.all() as RunRow[]).map(({ automation_id }) => automation_id),
    begin: (automationId, now) => whole(begin.all(now, automationId)),
    addResult: (id, position, result) => void insertResult.all(position, JSON.stringify(result), id),
    finish: (id, status, now) => finish.all(status, now, id).length > 0,
  };
}

interface RunRow {
  id: string;
  automation_id: string;
  event_id: string;
  body: string;
  steps: string;
  status: RunStatus;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

function headOf(row: RunRow): RunHead {
  return {
    id: row.id,
    automationId: row.automation_id,
    eventId: row.event_id,
    status: row.status,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
  };
}
