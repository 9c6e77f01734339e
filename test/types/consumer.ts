// What an application writes. Compiled with the oldest TypeScript that is supported, against the built
// declarations; it is never run.
import {
  createEvent,
  createSender,
  DeliveryError,
  type ErrorCode,
  generateSecret,
  HookproofError,
  hmacSigner,
  isEventId,
  jwtSigner,
  newEventId,
  type Receipt,
  type SendResult,
  signHmac,
  signRequest,
  verifyHmac,
} from "hookproof";
import { diagnose } from "hookproof/diagnose";
import {
  createKeySet,
  fixedKeys,
  generateKey,
  jwksHandler,
  type KeyRecord,
  type KeyResolver,
  remoteKeys,
} from "hookproof/jwks";
import { createReceiver, memoryReplayStore, type Verdict } from "hookproof/receiver";
import { type FixedClock, fixedClock } from "hookproof/testing";

const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const secret: string = generateSecret();
const clock: FixedClock = fixedClock("2026-01-01T00:00:00Z");

export async function deliver(): Promise<Receipt | ErrorCode> {
  const sender = createSender({ url, signer: hmacSigner({ secret: [secret, generateSecret()] }), clock });
  try {
    return await sender.send({ type: "user.offboarded" }, { eventId: newEventId() });
  } catch (error) {
    if (error instanceof DeliveryError) return error.attempts.length > 1 ? error.code : "TIMED_OUT";
    if (error instanceof HookproofError) return error.code;
    throw error;
  }
}

export async function results(): Promise<SendResult[]> {
  const key: KeyRecord = await generateKey({ alg: "ES256" });
  const signer = jwtSigner({ key: key.privateJwk, kid: key.kid, alg: key.alg, expiresInSeconds: 60 });
  const collected: SendResult[] = [];
  for await (const result of createSender({ url, signer }).sendMany(["1", "2"], { concurrency: 2 }))
    collected.push(result);
  return collected;
}

export async function ownClient(): Promise<Response> {
  const { url: target, ...init } = await signRequest({
    url,
    signer: hmacSigner({ secret }),
    event: createEvent("null"),
  });
  const bytes: number = init.body.length;
  if (bytes > 65_536 || !isEventId(init.eventId)) throw new RangeError("cannot be");
  return fetch(target, { ...init, redirect: "manual" });
}

export async function receive(request: Request): Promise<Response> {
  const set = createKeySet([await generateKey({ alg: "EdDSA" })]);
  const keys: KeyResolver =
    Math.random() < 0.5
      ? remoteKeys("https://keys.example.com/jwks.json")
      : fixedKeys(await set.publicJwks());
  const receiver = createReceiver({
    listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "jwt", keys } },
    replayStore: memoryReplayStore({ clock }),
  });
  const verdict: Verdict = await receiver.verify({ method: "POST", url, headers: [["a", "b"]], body: "{}" });
  if (!verdict.ok && verdict.code === "SIGNATURE_MISMATCH") return jwksHandler(set)(request);
  return receiver.handle(request, async (event) => {
    const body: Uint8Array = event.body;
    const { causes } = await diagnose({ request: { headers: request.headers, body }, secret });
    return causes.map(({ fix }) => fix);
  });
}

const signature: string = signHmac({ secret, timestamp: 1767225600, eventId: newEventId(), body: "{}" });
export const holds: boolean = verifyHmac({ secret, timestamp: "1", eventId: "a", body: "{}", signature });
