// All rules of a scheme.
import { createEvent, type WebhookEvent } from "../core/event.js";
import type { HeaderPair } from "../core/headers.js";
import { EVENT_ID_RETENTION_MS } from "../core/protocol.js";
import { countOf } from "../core/shown.js";
import { createReceiver, type Receiver, type ReceiverAnswer } from "../receiver/receiver.js";
import type { Signer, Verifier } from "../schemes/scheme.js";
import { type SignedRequest, signRequest } from "../sender/sign-request.js";
import { type ContractCase, expectSame } from "./contract-case.js";
import { fixedClock } from "./time.js";

/** A scheme under test: what signs, what verifies it, and what signs with another secret or key. */
export interface SchemeSubject {
  /** Signs by the scheme. */
  readonly signer: Signer;
  /** Accepts what `signer` signs. */
  readonly verifier: Verifier;
  /** Signs by the same scheme with a secret or key that `verifier` does not know. */
  readonly otherSigner: Signer;
  /** A URL that the scheme allows; `https://hooks.example.com/in` by default. */
  readonly url?: string;
  /** The payload of an event, another one for each number, for a scheme that does not take any; `{ n }` by default. */
  readonly payload?: (n: number) => object;
  /** Header lines of the scheme that prove nothing, such as `Accept`; `Content-Type` is always taken for one. */
  readonly unproved?: readonly string[];
}

/**
 * What every scheme must do, as one test for each rule: a proof covers body and time, every header line of it is needed
 * once, hostile ones are refused without an error, a copy is answered so that its sender stops.
 *
 * @example
 * ```ts
 * import test from "node:test";
 * import { generateStandardSecret, standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
 * import { schemeContract } from "hookproof/testing";
 *
 * const secrets = generateStandardSecret();
 * const subject = {
 *   signer: standardWebhooksSigner({ secrets }),
 *   verifier: standardWebhooksVerifier({ secrets }),
 *   otherSigner: standardWebhooksSigner({ secrets: generateStandardSecret() }),
 * };
 * for (const { name, run } of schemeContract) test(name, () => run(subject));
 * ```
 */
export const schemeContract: readonly ContractCase<SchemeSubject>[] = [
  rule("the scheme has a plain name, and signer and verifier are of one scheme", async ({ subject }) => {
    const { name } = subject.signer.scheme;
    expectSame("whether the name is plain", /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name), true);
    expectSame("the verifier's scheme", subject.verifier.scheme.name, name);
  }),
  rule("a listener's URL is signed in one form, and a text that is none is refused", async (kit) => {
    const { url: form } = await kit.signed();
    expectSame("whether it is a whole URL", new URL(form).href, form);
    const given = kit.subject.url ?? URL_OF_ALL;
    const inCapitals = given.replace(/^[a-z]+:\/\/[^/]+/, (origin) => origin.toUpperCase());
    for (const url of [form, inCapitals])
      expectSame(`the form of ${url}`, (await kit.signed({ url })).url, form);
    for (const url of ["", "hooks.example.com", "https://", "https://hooks.example.com:port/in"]) {
      const signed = await kit.signed({ url }).catch(() => undefined);
      expectSame(`what is signed for ${JSON.stringify(url)}`, signed?.url, undefined);
    }
  }),
  rule("what was signed is accepted, and an event has one id at every attempt", async (kit) => {
    const [event, other] = [kit.event(1), kit.event(2)];
    const ids = [];
    for (const [one, later] of [
      [event, 0],
      [event, 60],
      [other, 0],
    ] as const) {
      const { verdict } = await kit.receive(await kit.signed({ event: one, later }), { later });
      if (!verdict.ok) throw new Error(`a right request is refused: ${verdict.code}, ${verdict.detail}`);
      ids.push(verdict.event.id);
    }
    expectSame("the ids of an event's attempts", ids[1], ids[0]);
    expectSame("whether another event has another id", ids[2] !== ids[0], true);
  }),
  rule("a body that was changed is refused", async (kit) => {
    const request = await kit.signed();
    const { length } = request.body;
    for (const at of [0, Math.floor(length / 2), length - 1]) {
      const body = request.body.slice();
      body[at] = (body[at] ?? 0) ^ 1;
      await kit.refused(`byte ${at} of the body changed`, { ...request, body });
    }
    for (const body of ["", "{}", "a.b.c"])
      await kit.refused(`the body ${JSON.stringify(body)}`, {
        ...request,
        body: new TextEncoder().encode(body),
      });
  }),
  rule("what another secret or key has signed is refused", async (kit) => {
    const request = await kit.signed({ signer: kit.subject.otherSigner });
    await kit.refused("a request of another signer", request);
  }),
  rule("a proof for an attempt is refused an hour later, and an hour before", async (kit) => {
    if (kit.subject.signer.scheme.proof === "event") return;
    const request = await kit.signed();
    for (const later of [3_600, -3_600]) await kit.refused(`a request ${later} s later`, request, { later });
  }),
  rule(
    "a proof for the event holds for an hour, and not for longer than its id is remembered",
    async (kit) => {
      const { proof, rememberedMs = EVENT_ID_RETENTION_MS } = kit.subject.signer.scheme;
      if (proof === "attempt") return;
      const request = await kit.signed();
      const { verdict } = await kit.receive(request, { later: Math.min(3_600, rememberedMs / 2_000) });
      expectSame("whether a copy an hour later is accepted", verdict.ok, true);
      await kit.refused("a copy when its id is forgotten", request, { later: rememberedMs / 1_000 });
      await kit.refused("a request an hour early", request, { later: -3_600 });
    },
  ),
  rule("each header line of the proof is needed, and refused when it stands twice", async (kit) => {
    const request = await kit.signed();
    const lines = Object.entries(request.headers);
    const unproved = ["content-type", ...(kit.subject.unproved ?? []).map((one) => one.toLowerCase())];
    for (const [name, value] of lines.filter(([one]) => !unproved.includes(one.toLowerCase()))) {
      const others: HeaderPair[] = lines.filter(([one]) => one !== name);
      await kit.refused(`no ${name}`, request, { headers: others });
      await kit.refused(`${name} twice`, request, { headers: [...lines, [name, value]] });
      for (const hostile of HOSTILE)
        await kit.refused(`${name} of ${countOf(hostile.length, "character")}`, request, {
          headers: [...others, [name, hostile]],
        });
    }
  }),
  rule("a copy is not run again, and its sender takes the answer for a success", async (kit) => {
    const receiver = kit.receiver();
    const request = await kit.signed();
    const ran: string[] = [];
    const receive = async () => {
      const { method, url, headers, body } = request;
      return receiver.receive({ method, url, headers, body }, async ({ id }) => ran.push(id));
    };
    for (const what of ["the first", "the copy"]) {
      const { status, headers, body } = await receive();
      const answer = { status, headers, body: new TextEncoder().encode(body) };
      const { outcome } = kit.subject.signer.scheme.classify(answer, 2, START);
      expectSame(`what the answer ${status} to ${what} means`, outcome, "accepted");
    }
    expectSame("how often it ran", ran.length, 1);
  }),
  rule("every status means something to the sender", async ({ subject }) => {
    for (let status = 100; status < 600; status++) {
      const { outcome } = subject.signer.scheme.classify({ status, headers: [] }, 1, START);
      expectSame(`whether ${status} means something`, OUTCOMES.includes(outcome), true);
    }
  }),
];

const START = 1_767_225_600_000;
const URL_OF_ALL = "https://hooks.example.com/in";
const OUTCOMES: readonly string[] = ["accepted", "duplicate", "retry", "setup", "final"];
const HOSTILE = [
  "",
  " ",
  ",",
  "=",
  "=;,=",
  "v1,",
  "a.b.c",
  "é",
  "0",
  "-1",
  '"',
  ":A:",
  "x".repeat(8_000),
  ",".repeat(8_000),
  "a=b,".repeat(2_000),
];

interface Kit {
  readonly subject: SchemeSubject;
  event(n: number): WebhookEvent;
  receiver(later?: number): Receiver;
  /** A request that is signed so many seconds after the start. */
  signed(over?: {
    signer?: Signer;
    event?: WebhookEvent;
    later?: number;
    url?: string;
  }): Promise<SignedRequest>;
  receive(request: SignedRequest, over?: Received): Promise<ReceiverAnswer>;
  /** Throws unless the request is refused by a check of the verifier's table, with a status below 500. */
  refused(what: string, request: SignedRequest, over?: Received): Promise<void>;
}

interface Received {
  readonly later?: number;
  readonly headers?: readonly HeaderPair[];
}

function rule(name: string, run: (kit: Kit) => Promise<void>): ContractCase<SchemeSubject> {
  return { name, run: (subject) => run(kitOf(subject)) };
}

function kitOf(subject: SchemeSubject): Kit {
  const clockAt = (later: number) => fixedClock(START + later * 1000);
  const receiver = (later = 0) => createReceiver({ verifier: subject.verifier, clock: clockAt(later) });
  const receive: Kit["receive"] = async ({ method, url, body, ...request }, { later = 0, headers } = {}) =>
    receiver(later).receive({ method, url, headers: headers ?? request.headers, body }, async () => {});
  const event = (n: number) => createEvent(subject.payload?.(n) ?? { type: "contract", n });
  return {
    subject,
    event,
    receiver,
    receive,
    signed: ({
      signer = subject.signer,
      event: given = event(1),
      later = 0,
      url = subject.url ?? URL_OF_ALL,
    } = {}) =>
      signRequest({
        url,
        signer,
        event: given,
        clock: clockAt(later),
      }),
    async refused(what, request, over) {
      const { verdict, status } = await receive(request, over);
      if (verdict.ok) throw new Error(`${what}: expected a refusal, and it was accepted`);
      const { code, checks, detail } = verdict;
      if (status < 200 || status >= 500)
        throw new Error(`${what}: expected a refusal, got ${status} ${code}: ${detail}`);
      const step = checks.at(-1)?.step;
      const row = subject.verifier.checks.find((one) => one.step === step && one.codes.includes(code));
      expectSame(`${what}: whether the table has ${step} with ${code}`, row !== undefined, true);
    },
  };
}
