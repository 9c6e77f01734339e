// Records what listeners receive, explains it and sends it again.
import type { ServerResponse } from "node:http";
import type { Mistake } from "hookproof/diagnose";
import { packageVersion } from "../package-files.js";
import { harmless } from "../server/harmless.js";
import type { RefusedByNode } from "../server/refused-by-node.js";
import { type AnyListener, listenerIdOf } from "../server/webhook-router.js";
import { callRow, createCalls } from "./calls.js";
import {
  type CallDetail,
  type CallPage,
  type ExportQuery,
  type ForcedAnswer,
  type Forwarded,
  type ImportResult,
  LIMITS,
  type ReplayOrder,
  type ReplayResult,
  type RequestDetail,
  type RequestMark,
  type RequestPage,
  type RequestQuery,
  type RunDetail,
  type SessionInfo,
  type TestEventResult,
} from "./contract.js";
import { detailOf } from "./detail.js";
import { createDiagnoses } from "./diagnoses.js";
import type { Entry } from "./entry.js";
import { pathOf } from "./entry-line.js";
import { exportedFile } from "./export-file.js";
import { createFeed } from "./feed.js";
import { forcedAnswers } from "./forced-answers.js";
import { forwardedStatus, keptForwarded } from "./forwarded.js";
import { createHistory } from "./history.js";
import { readImport } from "./import-file.js";
import { InspectorError } from "./inspector-error.js";
import { openJournal } from "./journal.js";
import { judgeImported } from "./judge-imported.js";
import { withoutSecrets } from "./mask-secrets.js";
import { entryOf, type SeenRequest } from "./record-request.js";
import { refusedEntry } from "./refused-entry.js";
import type { RemoteControl } from "./remote-control.js";
import { createReplays } from "./replay.js";
import { type WatchedListener, type WatchOptions, watchListener } from "./watched-listener.js";

/** Options of `createInspector`. */
export interface InspectorOptions {
  /** A SQLite file that keeps the requests over a restart; memory only by default. */
  historyFile?: string | undefined;
  /** Told when the history file cannot be written any more. */
  onProblem?: ((message: string) => void) | undefined;
  /** How many requests are kept; 5,000 by default. */
  maxRequests?: number | undefined;
}

/** Records what listeners receive, explains it, and sends it again. `inspectorRouter` shows it. */
export interface Inspector {
  /** Prepares listeners of a server; give what comes back to `webhookRouter`. */
  watch<Listener extends AnyListener>(listeners: readonly Listener[], server: WatchOptions): Listener[];
  /** Records a request that has been answered: the `onHandled` of `webhookRouter`. */
  record(request: SeenRequest): void;
  /**
   * Takes what an application answered to a request that was forwarded to it, before or after `record`: the same
   * `request` tells which it was.
   */
  forwarded(request: SeenRequest["request"], answer: Forwarded): void;
  /**
   * Shows the calls of an API too; each goes to what comes back, once it is answered. The page has the API's remote
   * control, where it has one.
   */
  watchCalls(control?: RemoteControl): (call: Omit<CallDetail, "n">) => void;
  /** The remote control of the API whose calls are shown. */
  readonly control: RemoteControl | undefined;
  session(): Omit<SessionInfo, "token">;
  list(query?: RequestQuery): RequestPage;
  /** Everything about a request; undefined where it is not kept. */
  detail(n: number): Promise<RequestDetail | undefined>;
  /** @throws {InspectorError} REQUEST_UNKNOWN, LISTENER_UNKNOWN, REPLAY_IMPOSSIBLE, REPLAYS_BUSY, REPLAY_FAILED */
  replay(n: number, order: ReplayOrder): Promise<ReplayResult>;
  /** Sends an event of its own to a listener, rightly signed. Throws as `replay` does. */
  sendTestEvent(listenerId: string): Promise<TestEventResult>;
  /** Records what Node's HTTP parser has refused: the `onRefused` of `startServer`. */
  recordRefused(refused: RefusedByNode): void;
  /** Pins a request, or notes something about it. */
  mark(n: number, mark: RequestMark): void;
  /** Changes a listener's next answers. */
  force(answer: ForcedAnswer): void;
  unforce(listenerId: string): void;
  clear(): void;
  /** A file, piece by piece, oldest request first. */
  exported(query: ExportQuery): Iterable<string>;
  /** @throws {InspectorError} IMPORT_INVALID */
  imported(text: string): Promise<ImportResult>;
  /** Calls of the API that have a text anywhere; all of them by default. */
  calls(text?: string): CallPage;
  call(n: number): CallDetail | undefined;
  clearCalls(): void;
  /** Answers with server-sent events. */
  follow(response: ServerResponse, after: string | undefined): void;
  /** Ends connections and closes the history file. */
  close(): void;
}

/**
 * An inspector for the listeners of one server. It checks nothing itself: what it shows are the verdicts of the
 * listeners.
 *
 * @throws {InspectorError} HISTORY_UNREADABLE, HISTORY_INVALID, HISTORY_NEWER or FILE_IS_LINK
 *
 * @example
 * ```ts
 * import express from "express";
 * import { generateSecret } from "hookproof";
 * import { createInspector, inspectorRouter, webhookRouter } from "hookproof-service";
 *
 * const inspector = await createInspector();
 * const baseUrl = "http://127.0.0.1:3000";
 * const listeners = inspector.watch(
 *   [{ listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: process.env.LISTENER_SECRET ?? "" } } }],
 *   { serverUrl: baseUrl },
 * );
 * const app = express();
 * app.use(webhookRouter(listeners, inspector.record));
 * app.use("/inspector", inspectorRouter(inspector, { token: generateSecret() }));
 * ```
 */
export async function createInspector(options: InspectorOptions = {}): Promise<Inspector> {
  const { historyFile, onProblem = () => {}, maxRequests } = options;
  const journal = historyFile === undefined ? undefined : await openJournal(historyFile, harmless(onProblem));
  const history = createHistory({ journal, maxRequests });
  const listeners = new Map<string, WatchedListener>();
  const replays = createReplays();
  const calls = createCalls();
  const forwardedOf = new WeakMap<SeenRequest["request"], Forwarded>();
  const recordedAs = new WeakMap<SeenRequest["request"], number>();
  let hasCalls = false;
  let control: RemoteControl | undefined;
  const forced = forcedAnswers(() => feed.forcedChanged());
  const feed = createFeed({
    row: (n) => history.get(n)?.row,
    droppedUpTo: () => history.droppedUpTo,
    forced: () => ({ forced: forced.current }),
    calls: (numbers) => ({
      rows: numbers.flatMap((n) => calls.get(n) ?? []).map(callRow),
      droppedUpTo: calls.droppedUpTo,
    }),
  });
  const diagnoses = createDiagnoses(
    (id) => listeners.get(id ?? ""),
    (n, mistakes) => found(n, mistakes),
  );
  const secrets = () => [...listeners.values()].flatMap((one) => one.secrets);
  const serverUrl = () => [...listeners.values()][0]?.serverUrl ?? "http://127.0.0.1";
  const urlOf = ({ row, target }: Entry) =>
    `${listeners.get(row.listenerId ?? "")?.serverUrl ?? serverUrl()}${pathOf(target)}`;

  function found(n: number, mistakes: readonly Mistake[]): Entry | undefined {
    const entry = history.get(n);
    if (!entry || entry.mistakes) return entry;
    const [likeliest] = mistakes;
    const row = likeliest ? { ...entry.row, reason: likeliest.message, cause: likeliest.title } : entry.row;
    history.replace({ ...entry, row, mistakes });
    feed.rowChanged(n);
    return history.get(n);
  }

  function running(listenerId: string): WatchedListener {
    const listener = listeners.get(listenerId);
    if (listener) return listener;
    throw new InspectorError(404, "LISTENER_UNKNOWN", "There is no listener with this id.");
  }

  function kept(n: number): Entry {
    const entry = history.get(n);
    if (entry) return entry;
    throw new InspectorError(404, "REQUEST_UNKNOWN", `There is no request ${n}, or it is not kept any more.`);
  }

  return {
    watch: (setups, server) =>
      setups.map((setup) => {
        const id = listenerIdOf(setup);
        const watched = watchListener(setup, server);
        listeners.set(id, watched);
        return {
          ...(watched.setup as typeof setup),
          beforeAnswer: async (answer, request) =>
            forced.apply(id, setup.beforeAnswer ? await setup.beforeAnswer(answer, request) : answer),
        };
      }),
    record(seen) {
      const underWay = replays.recognise(seen.request.headers as Entry["headers"]);
      const { entry, unmasked } = entryOf(seen, {
        watched: listeners.get(seen.listenerId ?? ""),
        secrets: secrets(),
        origin: underWay?.origin,
        forwarded: forwardedOf.get(seen.request),
        duplicateOf: (eventId) => history.firstOf(seen.listenerId ?? "", eventId)?.row.n,
      });
      const dropped = history.droppedUpTo;
      const { row } = history.add(entry);
      recordedAs.set(seen.request, row.n);
      if (underWay) underWay.n = row.n;
      feed.rowChanged(row.n);
      if (history.droppedUpTo > dropped) feed.dropped();
      // The diagnosis sees the request as it was: that a secret was sent along is one of its findings.
      if (row.code !== undefined) diagnoses.queue({ ...unmasked, row }, entry !== unmasked);
    },
    forwarded(request, answer) {
      forwardedOf.set(request, answer);
      const entry = history.get(recordedAs.get(request) ?? 0);
      if (!entry) return;
      const forwarded = keptForwarded(answer);
      const row = { ...entry.row, forwardedStatus: forwardedStatus(forwarded) };
      history.replace({ ...withoutSecrets({ ...entry, forwarded }, secrets()), row });
      feed.rowChanged(row.n);
    },
    watchCalls(controlOfApi) {
      hasCalls = true;
      control = controlOfApi;
      return (call) => feed.callsChanged(calls.add(call).n);
    },
    get control() {
      return control;
    },
    session: () => ({
      v: 1,
      instance: feed.instance,
      version: packageVersion(),
      now: Date.now(),
      listeners: [...listeners.values()].map(({ info }) => info),
      ...(historyFile === undefined ? {} : { historyFile }),
      forced: forced.current,
      hasCalls,
      ...(control ? { controlled: control.operations } : {}),
    }),
    list(query = {}) {
      const { limit = 100 } = query;
      const { entries, found: count } = history.find({ ...query, limit: limit + 1 });
      const rows = entries.slice(0, limit).map(({ row }) => row);
      const next = rows.at(-1)?.n;
      return {
        rows,
        ...(entries.length > limit && next !== undefined ? { next } : {}),
        total: history.size,
        found: count,
        lastEventId: feed.lastEventId,
      };
    },
    async detail(n) {
      const entry = history.get(n);
      if (!entry) return undefined;
      const explained = entry.mistakes ? entry : (found(n, await diagnoses.mistakesIn(entry)) ?? entry);
      const { listenerId, eventId, code, duplicateOf, imported } = entry.row;
      const isRun = code === undefined && eventId !== undefined && !imported;
      const run = isRun
        ? (listeners.get(listenerId ?? "")?.runOf(eventId.toLowerCase()) ?? ACCEPTED)
        : undefined;
      const isRestored = n <= history.restoredUpTo;
      return detailOf(explained, {
        url: urlOf(entry),
        first: history.get(duplicateOf ?? 0),
        run,
        isRestored,
      });
    },
    async replay(n, order) {
      const entry = kept(n);
      const listener = listeners.get(entry.row.listenerId ?? "");
      if (listener) return replays.send(entry, order, listener);
      throw new InspectorError(409, "LISTENER_UNKNOWN", "No listener with this request's path is running.");
    },
    sendTestEvent: async (listenerId) => replays.sendTest(running(listenerId)),
    recordRefused(refused) {
      feed.rowChanged(history.add(withoutSecrets(refusedEntry(refused), secrets())).row.n);
    },
    mark(n, { pinned, note }) {
      const entry = kept(n);
      const { pinned: wasPinned = false, note: before = "", ...row } = entry.row;
      const [isPinned, text] = [pinned ?? wasPinned, note ?? before];
      const marks = {
        ...(isPinned ? { pinned: true as const } : {}),
        ...(text === "" ? {} : { note: text }),
      };
      history.replace({ ...entry, row: { ...row, ...marks } });
      feed.rowChanged(n);
    },
    force(answer) {
      running(answer.listenerId);
      forced.set(answer);
    },
    unforce: (listenerId) => forced.remove(listenerId),
    clear() {
      history.clear();
      feed.dropped();
    },
    exported: ({ format, n, credentials, ...query }) => {
      const entries =
        n === undefined ? history.find({ ...query, limit: LIMITS.requests }).entries.reverse() : [kept(n)];
      return exportedFile(entries, { format, ...(credentials ? { credentials } : {}) }, urlOf);
    },
    async imported(text) {
      const { entries, skipped } = readImport(text);
      for (const entry of entries) {
        const listener = listeners.get(entry.row.listenerId ?? "");
        const judged = await judgeImported(
          entry,
          listener,
          (listenerId, eventId) =>
            history.firstOf(listenerId, eventId) ?? history.firstOf(listenerId, eventId, true),
        );
        const { row } = history.add(withoutSecrets(judged, secrets()));
        feed.rowChanged(row.n);
      }
      feed.dropped();
      return { imported: entries.length, skipped };
    },
    calls: (text = "") => ({ rows: calls.find(text).map(callRow) }),
    call: calls.get,
    clearCalls() {
      calls.clear();
      feed.callsChanged();
    },
    follow: (response, after) => feed.follow(response, after),
    close() {
      forced.close();
      feed.close();
      history.close();
    },
  };
}

/** A listener without an automation of its own accepts an event, and that is all. */
const ACCEPTED: RunDetail = { state: "accepted", steps: [] };
