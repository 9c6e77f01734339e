// Records what listeners receive, explains it and sends it again.
import type { ServerResponse } from "node:http";
import type { Mistake } from "hookproof/diagnose";
import { packageVersion } from "../package-files.js";
import { InspectorError } from "../page/inspector-error.js";
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
import { EXAMPLES } from "./example-events.js";
import { exportedFile } from "./export-file.js";
import { createFeed } from "./feed.js";
import { forcedAnswers } from "./forced-answers.js";
import { forwardedRow, keptForwarded } from "./forwarded.js";
import { createHistory, type History } from "./history.js";
import { readImport } from "./import-file.js";
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
  /** Called when the history file cannot be written any more. */
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
  /**
   * Sends an event to a listener, rightly signed: the JSON text, or one of its own. Throws as `replay` does, and
   * ORDER_INVALID for a text that is no JSON.
   */
  sendTestEvent(listenerId: string, body?: string): Promise<TestEventResult>;
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
  return new ListenerInspector(createHistory({ journal, maxRequests }), historyFile);
}

/** Its members are functions of their own, so that a program can hand on `inspector.record`. */
class ListenerInspector implements Inspector {
  readonly #history: History;
  readonly #historyFile: string | undefined;
  readonly #listeners = new Map<string, WatchedListener>();
  readonly #replays = createReplays();
  readonly #calls = createCalls();
  // Requests are Node's, which have no place for what is known of them.
  readonly #forwardedOf = new WeakMap<SeenRequest["request"], Forwarded>();
  readonly #recordedAs = new WeakMap<SeenRequest["request"], number>();
  readonly #forced = forcedAnswers(() => this.#feed.forcedChanged());
  readonly #feed = createFeed({
    row: (n) => this.#history.get(n)?.row,
    droppedUpTo: () => this.#history.droppedUpTo,
    forced: () => ({ forced: this.#forced.current }),
    calls: (numbers) => ({
      rows: numbers.flatMap((n) => this.#calls.get(n) ?? []).map(callRow),
      droppedUpTo: this.#calls.droppedUpTo,
    }),
  });
  readonly #diagnoses = createDiagnoses(
    (id) => this.#listeners.get(id ?? ""),
    (n, mistakes) => this.#found(n, mistakes),
  );
  #hasCalls = false;
  #control: RemoteControl | undefined;

  constructor(history: History, historyFile: string | undefined) {
    this.#history = history;
    this.#historyFile = historyFile;
  }

  readonly watch: Inspector["watch"] = (setups, server) =>
    setups.map((setup) => {
      const id = listenerIdOf(setup);
      const watched = watchListener(setup, server);
      this.#listeners.set(id, watched);
      return {
        ...(watched.setup as typeof setup),
        beforeAnswer: async (answer, request) =>
          this.#forced.apply(id, setup.beforeAnswer ? await setup.beforeAnswer(answer, request) : answer),
      };
    });

  readonly record: Inspector["record"] = (seen) => {
    const history = this.#history;
    const underWay = this.#replays.recognise(seen.request.headers as Entry["headers"]);
    const { entry, unmasked } = entryOf(seen, {
      watched: this.#listeners.get(seen.listenerId ?? ""),
      secrets: this.#secrets(),
      origin: underWay?.origin,
      forwarded: this.#forwardedOf.get(seen.request),
      duplicateOf: (eventId) => history.firstOf(seen.listenerId ?? "", eventId)?.row.n,
    });
    const dropped = history.droppedUpTo;
    const { row } = history.add(entry);
    this.#recordedAs.set(seen.request, row.n);
    if (underWay) underWay.n = row.n;
    this.#feed.rowChanged(row.n);
    if (history.droppedUpTo > dropped) this.#feed.dropped();
    // The diagnosis sees the request as it was: that a secret was sent along is one of its findings.
    if (row.code !== undefined) this.#diagnoses.queue({ ...unmasked, row }, entry !== unmasked);
  };

  readonly forwarded: Inspector["forwarded"] = (request, answer) => {
    this.#forwardedOf.set(request, answer);
    const entry = this.#history.get(this.#recordedAs.get(request) ?? 0);
    if (!entry) return;
    const forwarded = keptForwarded(answer);
    const row = { ...entry.row, ...forwardedRow(forwarded, entry.row.code) };
    this.#history.replace({ ...withoutSecrets({ ...entry, forwarded }, this.#secrets()), row });
    this.#feed.rowChanged(row.n);
  };

  readonly watchCalls: Inspector["watchCalls"] = (control) => {
    this.#hasCalls = true;
    this.#control = control;
    return (call) => this.#feed.callsChanged(this.#calls.add(call).n);
  };

  get control(): RemoteControl | undefined {
    return this.#control;
  }

  readonly session: Inspector["session"] = () => ({
    v: 1,
    instance: this.#feed.instance,
    version: packageVersion(),
    now: Date.now(),
    listeners: [...this.#listeners.values()].map(({ info }) => info),
    examples: EXAMPLES,
    ...(this.#historyFile === undefined ? {} : { historyFile: this.#historyFile }),
    forced: this.#forced.current,
    hasCalls: this.#hasCalls,
    ...(this.#control ? { controlled: this.#control.operations } : {}),
  });

  readonly list: Inspector["list"] = (query = {}) => {
    const { limit = 100 } = query;
    const { entries, found } = this.#history.find({ ...query, limit: limit + 1 });
    const rows = entries.slice(0, limit).map(({ row }) => row);
    const next = rows.at(-1)?.n;
    return {
      rows,
      ...(entries.length > limit && next !== undefined ? { next } : {}),
      total: this.#history.size,
      found,
      lastEventId: this.#feed.lastEventId,
    };
  };

  readonly detail: Inspector["detail"] = async (n) => {
    const entry = this.#history.get(n);
    if (!entry) return undefined;
    const explained = entry.mistakes
      ? entry
      : (this.#found(n, await this.#diagnoses.mistakesIn(entry)) ?? entry);
    const { listenerId, eventId, code, duplicateOf, imported } = entry.row;
    const isRun = code === undefined && eventId !== undefined && !imported;
    const listener = this.#listeners.get(listenerId ?? "");
    const run = isRun ? (listener?.runOf(eventId.toLowerCase()) ?? ACCEPTED) : undefined;
    // What was kept or judged elsewhere had another secret.
    const isOwn = entry.demanded?.auth === "scheme" && n > this.#history.restoredUpTo;
    return detailOf(explained, {
      signed: isOwn ? await listener?.signed?.(entry) : undefined,
      url: this.#urlOf(entry),
      first: this.#history.get(duplicateOf ?? 0),
      run,
      isRestored: n <= this.#history.restoredUpTo,
    });
  };

  readonly replay: Inspector["replay"] = async (n, order) => {
    const entry = this.#kept(n);
    const listener = this.#listeners.get(entry.row.listenerId ?? "");
    if (listener) return this.#replays.send(entry, order, listener);
    throw new InspectorError(409, "LISTENER_UNKNOWN", "No listener with this request's path is running.");
  };

  readonly sendTestEvent: Inspector["sendTestEvent"] = async (listenerId, body) =>
    this.#replays.sendTest(this.#running(listenerId), body);

  readonly recordRefused: Inspector["recordRefused"] = (refused) => {
    const { row } = this.#history.add(withoutSecrets(refusedEntry(refused), this.#secrets()));
    this.#feed.rowChanged(row.n);
  };

  readonly mark: Inspector["mark"] = (n, { pinned, note }) => {
    const entry = this.#kept(n);
    const { pinned: wasPinned = false, note: before = "", ...row } = entry.row;
    const [isPinned, text] = [pinned ?? wasPinned, note ?? before];
    const marks = {
      ...(isPinned ? { pinned: true as const } : {}),
      ...(text === "" ? {} : { note: text }),
    };
    this.#history.replace({ ...entry, row: { ...row, ...marks } });
    this.#feed.rowChanged(n);
  };

  readonly force: Inspector["force"] = (answer) => {
    this.#running(answer.listenerId);
    this.#forced.set(answer);
  };

  readonly unforce: Inspector["unforce"] = (listenerId) => this.#forced.remove(listenerId);

  readonly clear: Inspector["clear"] = () => {
    this.#history.clear();
    this.#feed.dropped();
  };

  readonly exported: Inspector["exported"] = ({ format, n, credentials, ...query }) => {
    const entries =
      n === undefined
        ? this.#history.find({ ...query, limit: LIMITS.requests }).entries.reverse()
        : [this.#kept(n)];
    const form = { format, ...(credentials ? { credentials } : {}) };
    return exportedFile(entries, form, (entry) => this.#urlOf(entry));
  };

  readonly imported: Inspector["imported"] = async (text) => {
    const { entries, skipped } = readImport(text);
    const firstOf = (listenerId: string, eventId: string) =>
      this.#history.firstOf(listenerId, eventId) ?? this.#history.firstOf(listenerId, eventId, true);
    for (const entry of entries) {
      const judged = await judgeImported(entry, this.#listeners.get(entry.row.listenerId ?? ""), firstOf);
      const { row } = this.#history.add(withoutSecrets(judged, this.#secrets()));
      this.#feed.rowChanged(row.n);
    }
    this.#feed.dropped();
    return { imported: entries.length, skipped };
  };

  readonly calls: Inspector["calls"] = (text = "") => ({ rows: this.#calls.find(text).map(callRow) });

  readonly call: Inspector["call"] = (n) => this.#calls.get(n);

  readonly clearCalls: Inspector["clearCalls"] = () => {
    this.#calls.clear();
    this.#feed.callsChanged();
  };

  readonly follow: Inspector["follow"] = (response, after) => this.#feed.follow(response, after);

  readonly close: Inspector["close"] = () => {
    this.#forced.close();
    this.#feed.close();
    this.#history.close();
  };

  /** A request with what its diagnosis says, which the first diagnosis is kept for. */
  #found(n: number, mistakes: readonly Mistake[]): Entry | undefined {
    const entry = this.#history.get(n);
    if (!entry || entry.mistakes) return entry;
    const [likeliest] = mistakes;
    const row = likeliest ? { ...entry.row, reason: likeliest.message, cause: likeliest.title } : entry.row;
    this.#history.replace({ ...entry, row, mistakes });
    this.#feed.rowChanged(n);
    return this.#history.get(n);
  }

  #running(listenerId: string): WatchedListener {
    const listener = this.#listeners.get(listenerId);
    if (listener) return listener;
    throw new InspectorError(404, "LISTENER_UNKNOWN", "There is no listener with this id.");
  }

  #kept(n: number): Entry {
    const entry = this.#history.get(n);
    if (entry) return entry;
    throw new InspectorError(404, "REQUEST_UNKNOWN", `There is no request ${n}, or it is not kept any more.`);
  }

  #secrets() {
    return [...this.#listeners.values()].flatMap((one) => one.secrets);
  }

  #urlOf({ row, target }: Entry): string {
    const [first] = this.#listeners.values();
    const listener = this.#listeners.get(row.listenerId ?? "") ?? first;
    return `${listener?.serverUrl ?? "http://127.0.0.1"}${pathOf(target)}`;
  }
}

/** A listener without an automation of its own accepts an event, and that is all. */
const ACCEPTED: RunDetail = { state: "accepted", steps: [] };
