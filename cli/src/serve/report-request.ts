// Tells of each request that a local listener gets, and forwards it.
import type { HeaderPair } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { Verdict } from "hookproof/receiver";
import type { HandledRequest } from "hookproof-service/listeners";
import type { Context } from "../command.js";
import { CliError } from "../failure.js";
import { postExactly } from "../send/agent.js";
import { showMessage } from "../send/transport.js";
import { eventTypeIn } from "./security-event-types.js";

/** What `listen` does with every request besides answering it. */
export interface Reporting {
  /** The mistakes behind a refusal. */
  mistakes(request: HandledRequest["request"]): Promise<readonly Mistake[]>;
  /** Where accepted requests are posted on to, byte for byte. */
  readonly forwardTo?: string | undefined;
  /** Header lines of the user's own that go along; they stand in the place of lines that the sender has of these names. */
  readonly forwardHeaders: readonly HeaderPair[];
}

/** Tells of one request, and forwards it if that was asked for. */
export async function reportRequest(
  context: Context,
  n: number,
  handled: HandledRequest,
  { mistakes, forwardTo, forwardHeaders }: Reporting,
): Promise<void> {
  const { out } = context;
  const { status, verdict, request } = handled;
  const eventId = verdict.ok ? verdict.event.id : seenEventId(verdict);
  const { reason, fix } = verdict.ok ? {} : await reasonFor(verdict, request, mistakes);
  const type = typeOf(request.body) ?? (verdict.ok ? eventTypeIn(verdict.event.payload) : undefined);
  showRequest(out, handled);
  const forwarded =
    verdict.ok && forwardTo !== undefined
      ? await forward(context, handled, { url: forwardTo, own: forwardHeaders })
      : undefined;
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
    ...(forwarded === undefined ? {} : { forwarded }),
  });
  const isCopy = !verdict.ok && (verdict.code === "EVENT_DUPLICATE" || status === 409);
  const mark = verdict.ok
    ? out.paint(status < 400 ? "green" : "yellow", `${status < 400 ? "✔" : "!"} ${status}`)
    : out.paint(isCopy ? "yellow" : "red", `${isCopy ? "=" : "✖"} ${status}`);
  const about = [
    verdict.ok ? "accepted" : verdict.code,
    type,
    eventId,
    `${Math.round(handled.durationMs)} ms`,
  ];
  out.line(`${localTime(handled.receivedAt)}  ${mark} ${about.filter(Boolean).join("  ")}`);
  if (reason !== undefined) out.line(`  reason     ${reason}`);
  if (fix !== undefined) out.line(`  fix        ${fix}`);
  if (forwarded !== undefined)
    out.line(`  forwarded  ${"status" in forwarded ? forwarded.status : forwarded.error}`);
}

/** Hours, minutes and seconds on this machine's own clock. */
function localTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** The type that an event's body names, if it is a short text. */
function typeOf(body: Uint8Array): string | undefined {
  try {
    const { type } = JSON.parse(Buffer.from(body).toString("utf8")) as { type?: unknown };
    return typeof type === "string" && type !== "" && type.length <= 80 ? type : undefined;
  } catch {
    return undefined;
  }
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
  request: HandledRequest["request"],
  mistakesIn: Reporting["mistakes"],
): Promise<{ reason: string; fix?: string }> {
  const looks = EXPLAINED_STATUSES.has(verdict.status);
  const [mistake] = looks ? await mistakesIn(request) : [];
  return mistake ? { reason: mistake.message, fix: mistake.fix } : { reason: verdict.detail };
}

/** Statuses that a mistake in the request itself leads to. */
const EXPLAINED_STATUSES: ReadonlySet<number> = new Set([400, 401, 415]);

async function forward(
  { global, args, config, io }: Context,
  { request }: HandledRequest,
  { url, own }: { url: string; own: readonly HeaderPair[] },
): Promise<{ status: number } | { error: string }> {
  const { endToEndHeaders } = await import("hookproof-service/listeners");
  const { authorityFor } = await import("../send/reach.js");
  // A map, as the names are a stranger's: an object has a `constructor` of its own.
  const headers = new Map<string, string[]>();
  const replaced = new Set(own.map(([name]) => name.toLowerCase()));
  for (const [name, value] of endToEndHeaders(request.headers as readonly HeaderPair[]))
    if (!replaced.has(name.toLowerCase())) headers.set(name, [...(headers.get(name) ?? []), value]);
  try {
    const status = await postExactly(
      { url, headers: Object.fromEntries(headers), body: request.body },
      {
        timeoutMs: global.timeoutMs,
        reach: {
          ca: authorityFor({ url, config }),
          insecure: args.flag("insecure"),
          io,
          headers: own,
          plainHttpHosts: [],
        },
      },
    );
    return { status };
  } catch (error) {
    if (error instanceof CliError) return { error: error.message };
    throw error;
  }
}
