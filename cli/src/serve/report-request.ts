import type { HeaderPair } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import type { ListenerOptions, Verdict } from "hookproof/receiver";
import { endToEndHeaders, type HandledRequest } from "hookproof-service";
import type { Context } from "../command.js";
import { CliError } from "../failure.js";
import { postExactly } from "../send/agent.js";

/** What `listen` does with every request besides answering it. */
export interface Reporting {
  /** The listener the request was for, to name the mistake behind a refusal. */
  readonly listener: ListenerOptions;
  /** Where accepted requests are posted on to, byte for byte. */
  readonly forwardTo?: string | undefined;
}

/** Tells of one request, and forwards it if that was asked for. */
export async function reportRequest(
  context: Context,
  n: number,
  handled: HandledRequest,
  { listener, forwardTo }: Reporting,
): Promise<void> {
  const { out } = context;
  const { status, verdict, request } = handled;
  const eventId = verdict.ok ? verdict.event.id : seenEventId(verdict);
  const reason = verdict.ok ? undefined : await reasonFor(verdict, request, listener);
  const forwarded =
    verdict.ok && forwardTo !== undefined ? await forward(context, handled, forwardTo) : undefined;
  out.document({
    type: "request",
    n,
    status,
    ...(verdict.ok ? {} : { code: verdict.code }),
    ...(eventId ? { eventId } : {}),
    checks: verdict.checks,
    ...(reason === undefined ? {} : { reason }),
    ...(forwarded === undefined ? {} : { forwarded }),
  });
  const mark = verdict.ok
    ? out.paint(status < 400 ? "green" : "yellow", `${status < 400 ? "✔" : "!"} ${status}`)
    : out.paint(status === 409 ? "yellow" : "red", `${status === 409 ? "=" : "✖"} ${status}`);
  out.line(`${mark} ${verdict.ok ? "accepted" : verdict.code}  ${eventId ?? ""}`.trimEnd());
  if (reason !== undefined) out.line(`  reason     ${reason}`);
  if (forwarded !== undefined)
    out.line(`  forwarded  ${"status" in forwarded ? forwarded.status : forwarded.error}`);
}

function seenEventId(verdict: Verdict): string | undefined {
  return verdict.checks.find(({ step, ok }) => step === "event-id" && ok)?.seen;
}

/** Why a request was refused, in words: the known mistake that explains it, or what the check saw. */
async function reasonFor(
  verdict: Exclude<Verdict, { ok: true }>,
  request: HandledRequest["request"],
  listener: ListenerOptions,
): Promise<string> {
  const looks = EXPLAINED_STATUSES.has(verdict.status);
  const [mistake] = looks ? (await diagnose({ request, listener })).mistakes : [];
  return mistake?.message ?? verdict.detail;
}

/** Statuses that a mistake in the request itself leads to. */
const EXPLAINED_STATUSES: ReadonlySet<number> = new Set([400, 401, 415]);

async function forward(
  { global, args }: Context,
  { request }: HandledRequest,
  url: string,
): Promise<{ status: number } | { error: string }> {
  // A map, as the names are a stranger's: an object has a `constructor` of its own.
  const headers = new Map<string, string[]>();
  for (const [name, value] of endToEndHeaders(request.headers as readonly HeaderPair[]))
    headers.set(name, [...(headers.get(name) ?? []), value]);
  try {
    const status = await postExactly(
      { url, headers: Object.fromEntries(headers), body: request.body },
      { timeoutMs: global.timeoutMs, ca: args.text("ca"), insecure: args.flag("insecure") },
    );
    return { status };
  } catch (error) {
    if (error instanceof CliError) return { error: error.message };
    throw error;
  }
}
