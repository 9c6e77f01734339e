// What server and page of the inspector say to each other, and the limits of both.
import type { ForcedAnswer, Forwarded } from "./answers-contract.js";
import type { CallRow } from "./calls-contract.js";
import type { SignedDetail } from "./signed-contract.js";

/**
 * What the inspector's server and its page say to each other: types and a few constants, so that both sides
 * can import it. Every address is relative to the page's own, so that the router can be mounted anywhere.
 *
 * | request                              | answer                                                            |
 * | ------------------------------------ | ----------------------------------------------------------------- |
 * | `GET api/session`                    | `SessionInfo`                                                     |
 * | `GET api/requests?<RequestQuery>`    | `RequestPage`, newest first                                       |
 * | `GET api/requests/:n`                | `RequestDetail`; 404                                              |
 * | `GET api/events?after=<event id>`    | server-sent events: `InspectorEvents`                             |
 * | `POST api/requests/:n/replay`        | `ReplayOrder` in, `ReplayResult` out                              |
 * | `PUT api/requests/:n/mark`           | `RequestMark` in, 204                                             |
 * | `POST api/test-event`                | `TestEventOrder` in, `TestEventResult` out                        |
 * | `PUT api/forced-answer`              | `ForcedAnswer` in, `ForcedAnswer` out; one for each listener      |
 * | `DELETE api/forced-answer?listener=` | 204                                                               |
 * | `DELETE api/requests`                | 204; the numbers go on                                            |
 * | `GET api/export?<ExportQuery>`       | a file: JSON Lines or HAR                                         |
 * | `POST api/import`                    | a JSON Lines or HAR file in, `ImportResult` out                   |
 * | `GET api/calls?q=`                   | `CallPage`, newest first                                          |
 * | `GET api/calls/:n`                   | `CallDetail`; 404                                                 |
 * | `DELETE api/calls`                   | 204; the numbers go on                                            |
 * | `* api/control/…`                    | `/local/v1/…`: faults, clock, reset, snapshots, runs to look at   |
 *
 * Every call needs the header `TOKEN_HEADER` with the token of the page's address; POST, PUT and DELETE an `Origin`
 * (browsers send it) that is the page's own, too. A failure is `{ code, message }` (`Failure`) with status 400, 403, 404, 409, 413,
 * 415 or 503. Times are milliseconds since the epoch.
 */
export { type Failure, TOKEN_HEADER } from "../page/contract.js";
export type * from "./answers-contract.js";
export type * from "./calls-contract.js";
export type * from "./debug-contract.js";
export type * from "./signed-contract.js";

/** The numbers both sides keep to. */
export const LIMITS = {
  /** Requests that are kept; the oldest give way. */
  requests: 5_000,
  /** And no more than this many bytes of them. */
  requestBytes: 64 * 1024 * 1024,
  /** The most rows of one page, and of one batch of server-sent events. */
  pageRows: 500,
  /** The longest text to search for. */
  searchCharacters: 200,
  /** Rows are sent together when they come within this time. */
  batchMs: 50,
  /** A comment is sent after this silence, so that both sides notice a dead connection. */
  heartbeatMs: 15_000,
  /** The longest wait before a forced answer. */
  forcedDelayMs: 60_000,
  /** The most requests one forced answer holds for. */
  forcedTimes: 1_000,
  /** The longest time one forced answer holds for, in seconds. */
  forcedSeconds: 3_600,
  /** The longest body of a forced answer, in characters, and the most header lines of its own. */
  forcedBodyCharacters: 16_384,
  forcedHeaders: 20,
  /** The longest note on a request. */
  noteCharacters: 500,
  /** The most of a body that is shown in the list. */
  previewCharacters: 160,
  /** The most that is kept of what Node itself refused. */
  unreadBytes: 4_096,
  /** The most of an answer's body that is kept. */
  answerCharacters: 4_096,
  /** The most of a URL that a request was forwarded to, and of why nobody answered there. */
  forwardedUrlCharacters: 2_048,
  /** Calls of an API that are kept. */
  calls: 1_000,
  /** The most of a call's target in the list, and the most of its body and of its answer that is kept. */
  callTargetCharacters: 300,
  callBodyCharacters: 16_384,
  /** The longest body of a test event. */
  testBodyCharacters: 65_536,
  /** The largest file to import. */
  importBytes: 64 * 1024 * 1024,
} as const;

/** `same-id`: signed again, expects 409. `exact`: to the letter, 400 once stale. `new-id`: runs again, 200. */
type ReplayKind = "same-id" | "exact" | "new-id" | "edit";

/** Whether a request got neither the verdict's own answer nor the application's. */
export const isForced = ({ status, verdictStatus, forwardedStatus }: RequestRow): boolean =>
  verdictStatus !== undefined && status !== forwardedStatus;

/** A request in the list. */
export interface RequestRow {
  /** Its number, which never changes and is never given twice; larger is newer. */
  readonly n: number;
  readonly at: number;
  /** The listener that the path names, whether or not there is one. */
  readonly listenerId?: string;
  /** The listener's authentication method; absent where no listener has this path. */
  readonly auth?: "hmac" | "jwt";
  /** The name of the scheme that the listener receives by, where it is not the service's own. */
  readonly scheme?: string;
  /** GET, POST …: as sent, so it may be any text. */
  readonly method: string;
  /** The status that was answered. */
  readonly status: number;
  /** The verdict's code; absent where the request was accepted. */
  readonly code?: string;
  /** The verdict's own status, where another answer hid it: one that was forced, or the application's. */
  readonly verdictStatus?: number;
  /** As sent; absent where there was none, or several. */
  readonly eventId?: string;
  readonly bodyBytes: number;
  /** The listener did not read the body to its end; what is kept is the beginning of it. */
  readonly isCut?: true;
  /** The `type` of the payload, shortened. */
  readonly eventType?: string;
  /** A piece of the body on one line: the members next to `type`, or the beginning of the text. */
  readonly preview?: string;
  /** From the last byte of the headers to the answer. */
  readonly durationMs: number;
  /** In words: "accepted", the code's own sentence, or the known mistake once it has been found. */
  readonly reason: string;
  /** The known mistake in a few words, once it has been found; or that the application did not take it. */
  readonly cause?: string;
  /** The application's status, where the request was forwarded to one; 0 where it did not answer. */
  readonly forwardedStatus?: number;
  /** For a duplicate: the number of the delivery that was accepted, where it is still known. */
  readonly duplicateOf?: number;
  /** For a replay from the page: the request it repeats, and how. */
  readonly replay?: { readonly of: number; readonly kind: ReplayKind };
  /** It came from a file, and not over this listener. */
  readonly imported?: true;
  /** The page asked for it. */
  readonly isTest?: true;
  /** Node's HTTP parser refused it, so no listener saw it; the body is the beginning of what came, as it came. */
  readonly isUnread?: true;
  /** Somebody marked it on the page. */
  readonly pinned?: true;
  /** What somebody wrote about it on the page. */
  readonly note?: string;
}

/** What somebody says about a request; what is absent stays, and an empty note removes it. */
export interface RequestMark {
  readonly pinned?: boolean;
  /** At most `LIMITS.noteCharacters`. */
  readonly note?: string;
}

/** One step of the verdict. */
export interface Step {
  readonly step: string;
  readonly state: "passed" | "failed" | "not-reached";
  /** What the step demands, in words. */
  readonly rule: string;
  /** What was wrong, where it failed. */
  readonly fact?: string;
  /** What the request had. */
  readonly seen?: string;
  /** What it should have been, where that is one value. */
  readonly wanted?: string;
  readonly code?: string;
}

/** What the HMAC signature covers. */
export interface HmacDetail {
  /** `{timestamp}.{event_id}.{body}`; the bytes as base64, because a body is any bytes. Absent without both headers. */
  readonly canonicalBase64?: string;
  /** `Webhook-Signature` as sent; absent where there was none, or several. */
  readonly received?: string;
  /** What the listener's secret gives: of several secrets the one that matches, or the first. */
  readonly expected?: string;
  /** The first character that differs, from 0; absent where nothing does. */
  readonly firstDifference?: number;
  /** `secretFingerprint` of the secrets the listener takes. */
  readonly secretFingerprints: readonly string[];
}

/** A claim, and what it is compared with. */
export interface Claim {
  readonly name: string;
  /** As JSON text; absent where the token lacks it. */
  readonly actual?: string;
  /** In words or as a value; absent for a claim that no check reads. */
  readonly required?: string;
  readonly state: "passed" | "failed" | "not-reached" | "not-checked";
}

/** The parts of a token. Whether it is genuine, the step `token-signature` says. */
export interface TokenDetail {
  /** JSON text of the two parts, pretty; absent where they cannot be read. */
  readonly header?: string;
  readonly payload?: string;
  /** The token as sent, without the scheme. */
  readonly compact: string;
  /** The required claims first, then the others in the token's order. */
  readonly claims: readonly Claim[];
  /** The key of the set that the token was checked with; absent where it was not found, or not looked for. */
  readonly key?: { readonly kid: string; readonly alg: string; readonly thumbprint?: string };
}

/** A mistake that explains the refusal. */
export interface Mistake {
  readonly id: string;
  readonly title: string;
  readonly message: string;
  readonly fix: string;
  /** The fix as code in several languages, the sender's own first; absent where it is no matter of code. */
  readonly fixes?: readonly { readonly language: string; readonly fix: string }[];
}

/** What the automation did with an accepted event. `ctx.trigger` is the request's body. */
export interface RunDetail {
  /** Absent where the listener has no automation of its own, as with `listen`. */
  readonly id?: string;
  readonly automation?: string;
  /** What it can be run by again, step by step. */
  readonly automationId?: string;
  readonly state: "accepted" | "running" | "succeeded" | "failed";
  readonly steps: readonly {
    readonly name: string;
    readonly state: "succeeded" | "failed" | "skipped" | "waiting";
    /** What the step gave, as JSON text. */
    readonly output?: string;
    readonly error?: string;
  }[];
}

/** Everything about one request. */
export interface RequestDetail extends RequestRow {
  /** It was in the history's file when the inspector started, whoever wrote that. */
  readonly restored?: true;
  /** The target as sent: usually a path. */
  readonly target: string;
  /** Where it can be sent again. */
  readonly url: string;
  readonly sourceAddress?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As much of the body as was read; a secret of the listener in it is overwritten with asterisks. */
  readonly bodyBase64: string;
  readonly bodySha256: string;
  /** A secret of the listener stood in the request and is hidden here. */
  readonly masked?: true;
  /** `Webhook-Timestamp`, Unix seconds, where it is one: an exact replay is stale 300 s later. */
  readonly timestamp?: number;
  readonly steps: readonly Step[];
  readonly mistakes: readonly Mistake[];
  readonly hmac?: HmacDetail;
  /** Of another scheme. */
  readonly signed?: SignedDetail;
  readonly token?: TokenDetail;
  /** The first delivery's body, for the comparison; absent where this is no duplicate or it is not kept any more. */
  readonly first?: { readonly n: number; readonly at: number; readonly bodyBase64: string };
  readonly run?: RunDetail;
  readonly forwarded?: Forwarded;
  /** What was answered. */
  readonly answer: {
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: string;
  };
}

/** A listener whose requests are shown. */
export interface ListenerInfo {
  readonly id: string;
  /** Absent with `scheme`. */
  readonly auth?: "hmac" | "jwt";
  /** The name of the scheme that it receives by, where it is not the service's own. */
  readonly scheme?: string;
  /** The listener's URL, as a sender is given it. */
  readonly url: string;
  /** Whether a request can be signed again: without a signer only `exact` replays are possible. */
  readonly canSign: boolean;
  /** The type of the test event that is offered first; absent where none can be signed. */
  readonly testEvent?: string;
  readonly secretFingerprints: readonly string[];
  readonly allowedCidrs: readonly string[];
}

/** What the page needs to begin. */
export interface SessionInfo {
  readonly v: 1;
  /** Another one after a restart. */
  readonly instance: string;
  /** The package's version. */
  readonly version: string;
  /** The server's time. */
  readonly now: number;
  readonly listeners: readonly ListenerInfo[];
  /** Bodies of test events by their type. */
  readonly examples: Readonly<Record<string, object>>;
  /** Where requests are kept: a path, or nothing for memory. */
  readonly historyFile?: string;
  readonly forced: readonly ForcedAnswer[];
  /** Whether there is an API next to the listeners, whose calls are shown. */
  readonly hasCalls: boolean;
  /** The operations that can be made to fail; absent where there is no remote control. */
  readonly controlled?: readonly string[];
}

/** Which requests; all are optional, and hold together. */
export interface RequestQuery {
  /** Older than this number. */
  readonly before?: number;
  /** 1 to `LIMITS.pageRows`; 100 by default. */
  readonly limit?: number;
  /**
   * In the event id, code, reason, note, header lines, target or body; without case. Words such as `type:` and
   * `header:name=value` ask for one field: see `searchOf`.
   */
  readonly q?: string;
  /** `401`, or a class such as `4xx`; several with commas. */
  readonly status?: string;
  readonly listener?: string;
  /** Exactly this event id. */
  readonly event?: string;
  /** Not before this time, and before that one: milliseconds since the epoch. */
  readonly from?: number;
  readonly to?: number;
}

/** A page of the list, newest first. */
export interface RequestPage {
  readonly rows: readonly RequestRow[];
  /** `before` for the next page; absent on the last. */
  readonly next?: number;
  /** All that are kept, and all that the query finds. */
  readonly total: number;
  readonly found: number;
  /** The events that this page includes: `after` for `api/events`. */
  readonly lastEventId: string;
}

/**
 * Server-sent events by name, and their data. The last of a batch has an id; `Last-Event-ID` (or `after`, for a
 * first connection) goes on behind it. Where that is not possible any more, `reset` comes first: load again.
 */
export interface InspectorEvents {
  /** New rows, and rows that changed (their number is known): oldest first. */
  readonly rows: { readonly rows: readonly RequestRow[] };
  /** Requests up to this number are not kept any more. */
  readonly dropped: { readonly upTo: number };
  readonly forced: { readonly forced: readonly ForcedAnswer[] };
  /** New calls, oldest first; those up to a number are not kept any more. */
  readonly calls: { readonly rows: readonly CallRow[]; readonly droppedUpTo: number };
  /** The list cannot be continued: load session and list again. */
  readonly reset: Record<string, never>;
}

/** How a request is sent again. */
export type ReplayOrder =
  | { readonly kind: "same-id" | "exact" | "new-id" }
  | {
      readonly kind: "edit";
      readonly bodyBase64: string;
      /** Any text, and "" for none; the one in `headers` or the recorded one by default. */
      readonly eventId?: string;
      /** Any text, and "" for none; the time of sending by default, or as recorded where it is not signed again. */
      readonly timestamp?: string;
      /** Header lines instead of the recorded ones. */
      readonly headers?: readonly (readonly [name: string, value: string])[];
      /** Signed again (the default), or with the proof in `headers` or the recorded ones. */
      readonly sign?: boolean;
    };

/** What came of it. */
export interface ReplayResult {
  readonly kind: ReplayKind;
  readonly status: number;
  readonly eventId?: string;
  /** The number of the new request in the list, where it is known already. */
  readonly n?: number;
  /** The answer's body, shortened. */
  readonly body: string;
  readonly durationMs: number;
}

/** A test event: to which listener, and the JSON text that it says; one that its scheme can sign by default. */
export interface TestEventOrder {
  readonly listenerId: string;
  readonly body?: string;
}

/** What came of a test event. */
export type TestEventResult = Omit<ReplayResult, "kind">;

/** What goes into an exported file; the filters of `RequestQuery` hold here too. */
export interface ExportQuery extends Omit<RequestQuery, "before" | "limit"> {
  readonly format: "jsonl" | "har";
  /** A single request. */
  readonly n?: number;
  /** `1` leaves signatures, tokens and cookies in; they are `[redacted]` otherwise. A signing secret is never in. */
  readonly credentials?: "1";
}

/** What became of a file. */
export interface ImportResult {
  readonly imported: number;
  /** Entries that are no webhook requests, or cannot be read. */
  readonly skipped: number;
}
