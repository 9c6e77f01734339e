// Probes a listener of any scheme.

import { bodyBytes, utf8 } from "../../core/bytes.js";
import type { HeaderPair } from "../../core/headers.js";
import { checkOptions } from "../../core/options.js";
import type { Signer } from "../../schemes/scheme.js";
import { targetUrl } from "../../sender/sign-request.js";
import { closedVerdict, commonStatus, frontOf } from "./in-front.js";
import { isAccepted, type ListenerVerdict, passesWith } from "./listener-verdict.js";
import type { Probe, ProbeDefinition } from "./probe.js";
import { added, BODY, type ProbeRequest, type RequestFacts, type RequestKit, without } from "./requests.js";
import {
  checkRun,
  FILTER,
  type ProbeFilter,
  type RunProbesOptions,
  runSuite,
  selectFrom,
} from "./run-probes.js";
import type { ProbeResult } from "./send-probe.js";

/** A signer whose requests a listener must refuse, such as one with an unknown key. */
export interface WrongSigner {
  /** The id of its probe, such as `signed-with-other-key`. */
  readonly id: string;
  /** What is sent, such as `a request signed with an unknown key`. */
  readonly title: string;
  /** What is wrong with a listener that accepts it. */
  readonly means: string;
  /** How to correct such a listener. */
  readonly fix: string;
  /** Makes the requests. */
  readonly signer: Signer;
}

/** A change to a correct request, after which a listener must refuse it. */
export interface WrongChange extends Omit<WrongSigner, "signer"> {
  /** Header lines and body, changed. */
  change(request: { readonly headers: readonly HeaderPair[]; readonly body: Uint8Array }): {
    readonly headers: readonly HeaderPair[];
    readonly body: Uint8Array;
  };
}

/** A listener of any scheme, with what a correct sender has. */
export interface SchemeProbeTarget {
  /** The listener's URL. Plain HTTP is allowed on loopback, and for `plainHttpHosts`. */
  readonly url: string;
  /** Names to which plain HTTP is allowed besides loopback, in development; see `createSender`. */
  readonly plainHttpHosts?: readonly string[] | undefined;
  /** Signs correct requests. */
  readonly signer: Signer;
  /** The name of the specification, for reports. */
  readonly specification: string;
  /** JSON that the scheme can sign; `{"type":"hookproof.probe"}` by default. */
  readonly payload?: string | undefined;
  /** The age in seconds of a request that is too old; 3,600 by default. */
  readonly tooOldSeconds?: number | undefined;
  /** Signers whose requests must be refused: with an unknown key, for another receiver. */
  readonly wrongSigners: readonly WrongSigner[];
  /** Changes that the scheme's specification refuses. */
  readonly wrongChanges?: readonly WrongChange[] | undefined;
}

/** What a probe builds its request with. */
interface SchemeKit extends RequestKit {
  sign(parts?: { nowSeconds?: number; signer?: Signer }): Promise<ProbeRequest>;
}

const ACCEPTED = [200, 201, 202, 204];
const REFUSED = [400, 401, 403, 415, 422];
/** A copy may be told from the event, or be answered as it was. */
const COPY = [...ACCEPTED, 409];

const WINDOW = "Compare the time that was signed with the clock, in both directions.";

/**
 * Sends probes to a listener of any scheme: a correct request and a copy of it, and what must be refused: a changed body, a
 * time long ago and one to come, each header of the proof missing or twice, unknown keys, and what `target` adds. Yields
 * each result. Whether a listener refuses is judged, and not the status that it chooses.
 *
 * @throws {HookproofError} as `runProbes` does
 *
 * @example
 * ```ts
 * import { runSchemeProbes } from "hookproof/probes";
 * import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
 *
 * declare const secret: string; // whsec_…
 *
 * const target = {
 *   url: "http://127.0.0.1:3000/hooks",
 *   specification: "Standard Webhooks",
 *   signer: standardWebhooksSigner({ secrets: secret }),
 *   wrongSigners: [
 *     {
 *       id: "signed-with-other-key",
 *       title: "a request signed with an unknown secret",
 *       means: "Anybody can send events.",
 *       fix: "Compare the signature.",
 *       signer: standardWebhooksSigner({ secrets: generateStandardSecret() }),
 *     },
 *   ],
 * };
 * for await (const { id, outcome } of runSchemeProbes(target, { allowTrigger: true })) console.log(id, outcome);
 * ```
 */
export async function* runSchemeProbes(
  target: SchemeProbeTarget,
  options: RunProbesOptions = {},
): AsyncGenerator<ProbeResult, void, undefined> {
  checkRun("runSchemeProbes", options);
  const { url, suite } = await preparedFor(target);
  yield* runSuite(suite, (facts) => kitOf(target, facts), { url, baseUrl: new URL(url).origin }, options);
}

/**
 * The probes that `runSchemeProbes` sends to this listener, as data, in their order.
 *
 * @param filter which ones; all of them by default
 * @throws {RangeError} for a pattern that fits no probe
 *
 * @example
 * ```ts
 * import { type SchemeProbeTarget, schemeProbes } from "hookproof/probes";
 *
 * declare const target: SchemeProbeTarget;
 * console.log((await schemeProbes(target)).map(({ id }) => id));
 * ```
 */
export async function schemeProbes(
  target: SchemeProbeTarget,
  filter: ProbeFilter = {},
): Promise<readonly Omit<Probe, "methods">[]> {
  checkOptions("schemeProbes", filter, FILTER);
  const { suite } = await preparedFor(target);
  return selectFrom(suite, filter).map(({ build: _build, before: _before, ...facts }) => facts);
}

async function preparedFor(
  target: SchemeProbeTarget,
): Promise<{ url: string; suite: readonly ProbeDefinition<SchemeKit>[] }> {
  const url = targetUrl(target.signer.scheme, target.url, target.plainHttpHosts);
  const sample = unsigned(target, { url, nowSeconds: 0, eventId: "id" });
  const { headers: proof } = await target.signer.sign(sample);
  const names = [...(target.signer.scheme.headers?.(sample) ?? []), ...proof]
    .map(([name]) => name)
    .filter((name) => name.toLowerCase() !== "accept");
  return { url, suite: suiteOf(target, names) };
}

/**
 * What the results say of a listener, in one sentence; `undefined` if nothing is wrong with it.
 *
 * @param results all results of `runSchemeProbes`
 *
 * @example
 * ```ts
 * import { type ProbeResult, schemeVerdict } from "hookproof/probes";
 *
 * declare const results: readonly ProbeResult[];
 * console.log(schemeVerdict(results)?.sentence ?? "nothing is wrong");
 * ```
 */
export function schemeVerdict(results: readonly ProbeResult[]): ListenerVerdict | undefined {
  const failed = results.filter(({ outcome }) => outcome === "fail");
  const [right] = failed.filter(({ id }) => id === "correct-request");
  const accepted = failed.filter(({ id, status }) => id !== "correct-request" && isAccepted(status));
  const first = right ?? accepted[0] ?? failed[0];
  if (first === undefined) return undefined;
  const front = closedVerdict(results) ?? (accepted.length === failed.length ? undefined : frontIn(results));
  if (front) return front;
  const { id, title, fix = "", means = "", status = "nothing" } = first;
  const others = accepted.slice(1).map((one) => one.title);
  const sentence =
    right !== undefined
      ? `It answers ${status} to correct requests: ${means}`
      : accepted.length === 0
        ? `It answers ${status} to ${title}.`
        : `It accepts ${title}${others.length === 0 ? "" : `, and ${others.join(", and ")}`}.`;
  const follows = (right ? failed : accepted).map((one) => one.id);
  const unproved = passesWith(isAccepted(right?.status) ? undefined : right?.status, results);
  return { id, sentence, fix, follows, unproved, requests: 0 };
}

/** Who answers in the listener's place, by what is kept of the answers. */
function frontIn(results: readonly ProbeResult[]): ListenerVerdict | undefined {
  const status = commonStatus(results);
  const answer = results.find((one) => one.status === status)?.answer;
  if (status === undefined || answer === undefined) return undefined;
  const { body = "" } = answer;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const kept = { status, headers: Object.entries(answer.headers ?? {}), body: utf8(text) };
  const { verdict, isSure } = frontOf(results, kept, { requests: 0, isHmac: false });
  return isSure ? verdict : undefined;
}

type SchemeProbe = ProbeDefinition<SchemeKit>;

/** What the probes of a target have in common. */
interface Kinds {
  readonly accepts: Omit<SchemeProbe, "id" | "title" | "means" | "fix" | "build">;
  readonly refuses: Omit<SchemeProbe, "id" | "title" | "means" | "fix" | "build">;
}

function suiteOf(target: SchemeProbeTarget, names: readonly string[]): SchemeProbe[] {
  const common = { section: target.specification, listenerChoice: "none" } as const;
  const kinds: Kinds = {
    accepts: { ...common, expected: ACCEPTED, runsAutomation: true },
    refuses: { ...common, expected: REFUSED, runsAutomation: false },
  };
  return [
    ...correctProbes(kinds),
    ...changedProbes(kinds, target),
    ...names.flatMap((name) => headerProbes(kinds, name)),
    ...ownProbes(kinds, target),
  ];
}

function correctProbes({ accepts }: Kinds): SchemeProbe[] {
  return [
    {
      ...accepts,
      id: "correct-request",
      title: "a correct request",
      means: "The listener refuses what it must accept; until it accepts it, all other results say little.",
      fix: "Compare secret or key, URL, issuer and audience on both sides.",
      build: (kit) => kit.sign(),
    },
    {
      ...accepts,
      expected: COPY,
      id: "copy",
      title: "a copy of an accepted request",
      means: "A sender tries again when an answer is lost, and a refusal of the copy is taken for a failure.",
      fix: "Remember the ids of processed events, and answer a copy as the event, or 409.",
      before: { build: (kit) => kit.sign(), status: ACCEPTED },
      build: (kit) => kit.sign(),
    },
  ];
}

function changedProbes({ refuses }: Kinds, { tooOldSeconds = 3_600 }: SchemeProbeTarget): SchemeProbe[] {
  return [
    {
      ...refuses,
      id: "body-changed",
      title: "a request whose body was changed after it was signed",
      means: "Anyone on the way can change events.",
      fix: "Verify over the bytes as received, before any parsing.",
      async build(kit) {
        const request = await kit.sign();
        return { ...request, body: changedBody(request.body ?? new Uint8Array()) };
      },
    },
    {
      ...refuses,
      id: "time-long-ago",
      title: "a request that was signed too long ago",
      means: "A request that somebody recorded can be sent again when its id is forgotten.",
      fix: WINDOW,
      build: (kit) => kit.sign({ nowSeconds: kit.nowSeconds - tooOldSeconds }),
    },
    {
      ...refuses,
      id: "time-to-come",
      title: "a request of an hour ahead",
      means: "A request can be recorded now and is taken later, after its id is forgotten.",
      fix: WINDOW,
      build: (kit) => kit.sign({ nowSeconds: kit.nowSeconds + 3_600 }),
    },
  ];
}

function headerProbes({ refuses }: Kinds, name: string): SchemeProbe[] {
  return [
    {
      ...refuses,
      id: `${name.toLowerCase()}-missing`,
      title: `a request without ${name}`,
      means: "What the header proves is not checked.",
      fix: `Refuse a request without ${name}.`,
      build: async (kit) => without(await kit.sign(), name),
    },
    {
      ...refuses,
      listenerChoice: "refusal",
      id: `${name.toLowerCase()}-twice`,
      title: `a request with a second ${name}`,
      means: "One reads the first line and another reads the last, so that two programs see two requests.",
      fix: `Refuse a request with more than one ${name}.`,
      build: async (kit) => added(await kit.sign(), name, "hookproof-probe"),
    },
  ];
}

/** What the target itself says must be refused. */
function ownProbes(
  { refuses }: Kinds,
  { wrongSigners, wrongChanges = [] }: SchemeProbeTarget,
): SchemeProbe[] {
  return [
    ...wrongSigners.map(
      ({ signer, ...probe }): SchemeProbe => ({
        ...refuses,
        ...probe,
        build: (kit) => kit.sign({ signer }),
      }),
    ),
    ...wrongChanges.map(
      ({ change, ...probe }): SchemeProbe => ({
        ...refuses,
        ...probe,
        async build(kit) {
          const request = await kit.sign();
          const { headers, body = new Uint8Array() } = request;
          return { ...request, ...change({ headers, body }) };
        },
      }),
    ),
  ];
}

/** Another body of the same length: a digit or letter in it is another one. */
function changedBody(body: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(body);
  const at = Math.floor(changed.length / 2);
  for (let index = at; index < changed.length; index++)
    if (/[a-y0-8]/.test(String.fromCharCode(changed[index] ?? 0))) {
      changed[index] = (changed[index] ?? 0) + 1;
      break;
    }
  return changed;
}

function unsigned(
  { payload = BODY }: SchemeProbeTarget,
  { url, nowSeconds, eventId }: Pick<RequestFacts, "url" | "nowSeconds" | "eventId">,
) {
  return { url, timestamp: String(nowSeconds), eventId, body: bodyBytes(payload) };
}

function kitOf(target: SchemeProbeTarget, facts: RequestFacts): SchemeKit {
  const kit: SchemeKit = {
    ...facts,
    async sign({ nowSeconds = facts.nowSeconds, signer = target.signer } = {}) {
      const request = unsigned(target, { ...facts, nowSeconds });
      const { scheme } = signer;
      const signed = await signer.sign(request);
      const headers: HeaderPair[] = [
        ["Content-Type", scheme.contentType],
        ...(scheme.headers?.(request) ?? []),
        ...signed.headers,
      ];
      return { method: "POST", url: facts.url, headers, body: signed.body ?? request.body };
    },
    signed: () => kit.sign(),
    signedWithWrongKey: () => kit.sign({ signer: target.wrongSigners[0]?.signer ?? target.signer }),
    otherMethod: () => ["Webhook-Signature", "none"],
  };
  return kit;
}
