import { utf8 } from "../primitives/bytes.js";
import { bodyJson } from "./body-json.js";
import { RESERIALISING_TRIALS, type Reserialise } from "./body-mistakes.js";
import type { Effort } from "./effort.js";
import { ENCODING_TRIALS, type Reencode } from "./encoding-mistakes.js";
import { type Option, optionsOf } from "./mistake.js";

/** The bodies that may have been signed in place of the received one; each is made when it is first asked for. */
export interface SignedBodies {
  /** The body as it was serialised; `undefined` where that cannot be, or is another option's too. */
  readonly reserialisings: readonly Option<() => Uint8Array | undefined>[];
  /** What became of its bytes. */
  readonly encodings: readonly Option<(body: Uint8Array | undefined) => Uint8Array | undefined>[];
}

const RESERIALISINGS: readonly Option<Reserialise>[] = optionsOf((json) => json?.text, RESERIALISING_TRIALS);
const ENCODINGS: readonly Option<Reencode>[] = optionsOf((bytes) => bytes, ENCODING_TRIALS);

/** Parsing and writing JSON takes as long as hashing about this many times its length. */
const COST_OF_WRITING = 16;

/** Works out the bodies behind a received one. */
export function signedBodies(received: Uint8Array, work: Effort): SignedBodies {
  const json = bodyJson(received);
  const seen = new Set<string | undefined>([json?.text]);
  const reserialisings = RESERIALISINGS.map((option, index) => {
    if (index === 0) return { ...option, repeat: () => received };
    return {
      ...option,
      repeat: once(() => {
        work.spend(received.length * COST_OF_WRITING);
        const text = option.repeat(json);
        if (text === undefined || seen.has(text)) return undefined;
        seen.add(text);
        return utf8(text);
      }),
    };
  });
  const encodings = ENCODINGS.map((option, index) => {
    if (index === 0) return { ...option, repeat: (body: Uint8Array | undefined) => body };
    const made = new Map<Uint8Array, Uint8Array | undefined>();
    return {
      ...option,
      repeat(body: Uint8Array | undefined) {
        if (body === undefined || made.has(body)) return body && made.get(body);
        work.spend(body.length);
        const encoded = option.repeat(body);
        made.set(body, encoded && isSame(encoded, body) ? undefined : encoded);
        return made.get(body);
      },
    };
  });
  return { reserialisings, encodings };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
