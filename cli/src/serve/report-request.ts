// Tells of each request that a local listener gets, and forwards it.
import type { HeaderPair } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { ReceiverAnswer, Verdict } from "hookproof/receiver";
import type { HandledRequest } from "hookproof-service/listeners";
import type { Context } from "../command.js";
import { CliError } from "../failure.js";
import { postExactly } from "../send/post-exactly.js";
import type { ClientCertificate } from "../send/reach.js";
import { showMessage } from "../send/transport.js";
import { eventTypeIn, eventTypeOf } from "./security-event-types.js";

/** What `listen` does with every request besides answering it. */
export interface Reporting {
  /** The mistakes behind a refusal. */
  mistakes(handled: HandledRequest): Promise<readonly Mistake[]>;
  /** How the application answered what was forwarded to it; undefined for what was not. */
  forwarded(request: HandledRequest["request"]): Forwarded | undefined;
}

/** Where requests that passed are posted on to, byte for byte. */
export interface Forwarding {
  readonly url: string;
  /** Header lines of the user's own that go along; they stand in the place of lines that the sender has of these names. */
  readonly own: readonly HeaderPair[];
  /** The certificate by which the application knows the listener, where one is given. */
  readonly client: ClientCertificate | undefined;
  /** What no answer may repeat: the listener's secret, and the values of `own`. */
  readonly hidden: readonly string[];
}

/** The application's answer, or why there was none. */
export type Forwarded =
  | {
      readonly status: number;
      readonly headers: readonly HeaderPair[];
      readonly body: string;
      readonly ms: number;
    }
  | { readonly error: string };

/** Whether the application has the event: it took it, or it had it before. */
export function isTaken(forwarded: Forwarded): boolean {
  return (
    "status" in forwarded && ((forwarded.status >= 200 && forwarded.status < 300) || forwarded.status === 409)
  );
}

/** Lines of an application's answer that mean something to anyone who sent the event. */
const PASSED_ON = /^(?:content-type|location|retry-after|www-authenticate)$/i;

/** The application's answer in the listener's place; the listener's own where the application gave none. */
export function inItsPlace(answer: ReceiverAnswer, forwarded: Forwarded | undefined): ReceiverAnswer {
  if (!forwarded || "error" in forwarded) return answer;
  const { status, headers, body } = forwarded;
  return { ...answer, status, headers: headers.filter(([name]) => PASSED_ON.test(name)), body };
}

/** Tells of one request. */
export async function reportRequest(
  context: Context,
  n: number,
  handled: HandledRequest,
  { mistakes, forwarded: answerTo }: Reporting,
): Promise<void> {
  const { out } = context;
  const { status, verdict, request } = handled;
  const eventId = verdict.ok ? verdict.event.id : seenEventId(verdict);
  const forwarded = answerTo(request);
  const { reason, fix } = verdict.ok
    ? {}
    : forwarded && !isTaken(forwarded)
      ? { reason: refusedBehind(forwarded) }
      : await reasonFor(verdict, () => mistakes(handled));
  const type = eventTypeOf(request.body) ?? (verdict.ok ? eventTypeIn(verdict.event.payload) : undefined);
  showRequest(out, handled);
  out.document({
    type: "request",
    n,
    status,
    ...(verdict.ok ? {} : { code: verdict.code }),
    ...(eventId ? { eventId } : {}),
    checks: verdict.checks,
    ...(type === undefined ? {} : { eventType: type }),
    durationMs: Math.round(handled.durationMs),
    ...(reason === undefined ? {} : { reason }),
    ...(fix === undefined ? {} : { fix }),
    ...(forwarded === undefined ? {} : { forwarded: documented(forwarded) }),
  });
  const isCopy = status === 409 || (!verdict.ok && verdict.code === "EVENT_DUPLICATE");
  const mark =
    verdict.ok && !isCopy
      ? out.paint(status < 400 ? "green" : "yellow", `${status < 400 ? "✔" : "!"} ${status}`)
      : out.paint(isCopy ? "yellow" : "red", `${isCopy ? "=" : "✖"} ${status}`);
  const about = [
    verdict.ok ? "accepted" : verdict.code,
    type,
    eventId && out.short(eventId),
    `${Math.round(handled.durationMs)} ms`,
  ];
  out.line(`${localTime(handled.receivedAt)}  ${mark} ${about.filter(Boolean).join("  ")}`);
  if (reason !== undefined) out.line(`  reason     ${reason}`);
  if (fix !== undefined) out.line(`  fix        ${fix}`);
  if (forwarded !== undefined) out.line(`  forwarded  ${inOneLine(forwarded)}`);
}

function refusedBehind(forwarded: Forwarded): string {
  return "error" in forwarded
    ? "This listener accepts it; your application did not answer, so the same event may come again."
    : "This listener accepts it; your application refuses it, so the same event may come again.";
}

/** How much of what the application said stands in the list. */
const SAID_CHARACTERS = 200;

function inOneLine(forwarded: Forwarded): string {
  if ("error" in forwarded) return forwarded.error;
  const { status, body, ms } = forwarded;
  const said = isTaken(forwarded) ? "" : body.replace(/\s+/g, " ").trim().slice(0, SAID_CHARACTERS);
  return `${status} in ${ms} ms${said === "" ? "" : `: ${said}`}`;
}

function documented(forwarded: Forwarded): object {
  if ("error" in forwarded) return forwarded;
  const { status, body, ms } = forwarded;
  return { status, ms, ...(isTaken(forwarded) ? {} : { body: body.slice(0, SAID_CHARACTERS) }) };
}

/** Tells of a request for a path that the listener does not have, which is the commonest first mistake. */
export function reportElsewhere(
  { out }: Pick<Context, "out">,
  n: number,
  {
    status,
    verdict,
    request,
    receivedAt,
  }: Pick<HandledRequest, "status" | "verdict" | "request" | "receivedAt">,
  url: string,
): void {
  const code = verdict.ok ? undefined : verdict.code;
  const reason = `This listener is at ${new URL(url).pathname}, and nothing at ${request.url.slice(0, 200)}.`;
  out.document({ type: "request", n, status, code, checks: verdict.checks, durationMs: 0, reason });
  out.line(`${localTime(receivedAt)}  ${out.paint("red", `✖ ${status}`)} ${code}  ${request.method}`);
  out.line(`  reason     ${reason}`);
}

/** Hours, minutes and seconds on this machine's own clock. */
function localTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** With -v the request as it came, and the answer. */
function showRequest(out: Context["out"], { request, status, answer }: HandledRequest): void {
  out.detail(1, `> ${request.method} ${request.url}`);
  showMessage(out, ">", request.headers as readonly HeaderPair[], request.body);
  out.detail(1, `< ${status}`);
  showMessage(out, "<", answer.headers as readonly HeaderPair[], Buffer.from(answer.body));
}

/** The event id of a refused request, as far as it was checked. */
function seenEventId({ checks }: Verdict): string | undefined {
  const seen = checks.find(({ step, ok }) => ok && (step === "event-id" || step === "jti"))?.seen;
  // Schemes with ids of any text show them in quotes.
  return seen?.startsWith('"') ? JSON.parse(seen) : seen;
}

/** Why a request was refused, in words: the known mistake that explains it, or what the check saw. */
async function reasonFor(
  verdict: Exclude<Verdict, { ok: true }>,
  mistakes: () => Promise<readonly Mistake[]>,
): Promise<{ reason: string; fix?: string }> {
  const looks = EXPLAINED_STATUSES.has(verdict.status);
  const [mistake] = looks ? await mistakes() : [];
  return mistake ? { reason: mistake.message, fix: mistake.fix } : { reason: verdict.detail };
}

/** Statuses that a mistake in the request itself leads to. */
const EXPLAINED_STATUSES: ReadonlySet<number> = new Set([400, 401, 415]);

/** A header's name as CGI, WSGI, Rack and PHP read it, to which `X_Key` and `X-Key` are one. */
function asVariable(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

/** Posts a request on to the application. */
export async function forward(
  { global, args, config, io }: Context,
  request: HandledRequest["request"],
  { url, own, hidden, client }: Forwarding,
): Promise<Forwarded> {
  const { endToEndHeaders } = await import("hookproof-service/listeners");
  const { authorityFor } = await import("../send/reach.js");
  // A map, as the names are a stranger's: an object has a `constructor` of its own.
  const headers = new Map<string, string[]>();
  const replaced = new Set(own.map(([name]) => asVariable(name)));
  for (const [name, value] of endToEndHeaders(request.headers as readonly HeaderPair[]))
    if (!replaced.has(asVariable(name))) headers.set(name, [...(headers.get(name) ?? []), value]);
  const startedAt = performance.now();
  try {
    const answer = await postExactly(
      { url, headers: Object.fromEntries(headers), body: request.body },
      {
        timeoutMs: global.timeoutMs,
        reach: {
          ca: authorityFor({ url, config }),
          insecure: args.flag("insecure"),
          io,
          client,
          headers: own,
          plainHttpHosts: [],
        },
      },
    );
    const { withoutValues } = await import("hookproof/node");
    const said = withoutValues(Buffer.from(answer.body).toString("utf8"), hidden);
    const lines = answer.headers.map(
      ([name, value]): HeaderPair => [name, withoutValues(value, hidden, "[...]")],
    );
    const ms = Math.round(performance.now() - startedAt);
    return { status: answer.status, headers: lines, body: said, ms };
  } catch (error) {
    if (error instanceof CliError) return { error: error.message };
    throw error;
  }
}
