import { appendFile } from "node:fs/promises";
import { diagnose } from "hookproof/diagnose";
import type { Listener, Verdict } from "hookproof/receiver";
import type { HandledRequest } from "hookproof-service";
import type { Context } from "./command.js";
import { CliError } from "./failure.js";
import { postExactly } from "./post-exactly.js";

/** Headers that belong to one connection, or that are made anew for the next. */
const HOP_BY_HOP = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What `listen` does with every request besides answering it. */
export interface Reporting {
  /** The listener the request was for, to name the mistake behind a refusal. */
  readonly listener: Listener;
  /** Where accepted requests are posted on to, byte for byte. */
  readonly forwardTo?: string | undefined;
  /** A file that gets every request as a JSON line. */
  readonly history?: string | undefined;
}

/** Tells of one request, and forwards and records it if that was asked for. */
export async function reportRequest(
  context: Context,
  n: number,
  handled: HandledRequest,
  { listener, forwardTo, history }: Reporting,
): Promise<void> {
  const { out } = context;
  const { status, verdict, request } = handled;
  const eventId = verdict.ok ? verdict.event.id : seenEventId(verdict);
  const cause = verdict.ok ? undefined : await causeOf(verdict, request, listener);
  const forwarded =
    verdict.ok && forwardTo !== undefined ? await forward(context, handled, forwardTo) : undefined;
  const answer = {
    n,
    status,
    ...(verdict.ok ? {} : { code: verdict.code }),
    ...(eventId ? { eventId } : {}),
  };
  out.document({
    type: "request",
    ...answer,
    checks: verdict.checks,
    ...(cause === undefined ? {} : { cause }),
    ...(forwarded === undefined ? {} : { forwarded }),
  });
  const mark = verdict.ok
    ? out.paint(status < 400 ? "green" : "yellow", `${status < 400 ? "✔" : "!"} ${status}`)
    : out.paint(status === 409 ? "yellow" : "red", `${status === 409 ? "=" : "✖"} ${status}`);
  out.line(`${mark} ${verdict.ok ? "accepted" : verdict.code}  ${eventId ?? ""}`.trimEnd());
  if (cause !== undefined) out.line(`  cause      ${cause}`);
  if (forwarded !== undefined)
    out.line(`  forwarded  ${"status" in forwarded ? forwarded.status : forwarded.error}`);
  if (history !== undefined) await record(context, history, handled, answer);
}

function seenEventId(verdict: Verdict): string | undefined {
  return verdict.checks.find(({ step, ok }) => step === "event-id" && ok)?.seen;
}

/** Why a request was refused, in words: the known mistake that explains it, or what the check saw. */
async function causeOf(
  verdict: Exclude<Verdict, { ok: true }>,
  request: HandledRequest["request"],
  listener: Listener,
): Promise<string> {
  const looks = EXPLAINED_STATUSES.has(verdict.status);
  const [cause] = looks ? (await diagnose({ request, listener })).causes : [];
  return cause?.message ?? verdict.detail;
}

/** Statuses that a mistake in the request itself leads to. */
const EXPLAINED_STATUSES: ReadonlySet<number> = new Set([400, 401, 415]);

async function forward(
  { global, args }: Context,
  { request }: HandledRequest,
  url: string,
): Promise<{ status: number } | { error: string }> {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of request.headers as readonly (readonly [string, string])[]) {
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers[name] = [...(headers[name] ?? []), value];
  }
  try {
    const status = await postExactly(
      { url, headers, body: request.body },
      { timeoutMs: global.timeoutMs, ca: args.text("ca"), insecure: args.flag("insecure") },
    );
    return { status };
  } catch (error) {
    if (error instanceof CliError) return { error: error.message };
    throw error;
  }
}

async function record(
  { out }: Context,
  file: string,
  { request, receivedAt }: HandledRequest,
  answer: Record<string, unknown>,
): Promise<void> {
  const line = {
    v: 1,
    type: "request",
    at: receivedAt,
    ...answer,
    method: request.method,
    url: request.url,
    headers: request.headers,
    bodyBase64: Buffer.from(request.body).toString("base64"),
  };
  try {
    await appendFile(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    out.warn(`${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`);
  }
}
