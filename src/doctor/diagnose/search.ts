// Bounds a search by its work, and makes the bodies that may have been signed.
import { utf8 } from "../../core/bytes.js";
import { MAX_BODY_BYTES } from "../../core/protocol.js";
import { type Option, optionsOf } from "../rows/mistake.js";
import { readJson } from "../texts/json-shapes.js";
import { isOneBlankApart } from "../texts/line-breaks.js";
import { SERIALISING_MISTAKES } from "./mistakes/body.js";
import type { Reserialise } from "./mistakes/body-styles.js";
import { ENCODING_MISTAKES, type Reencode } from "./mistakes/encoding.js";

/** A signature, the request that it belongs to, and the secrets that the caller knows. */
export interface SignedMessage {
  readonly signature: string;
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  /** The listener's URL, or its path; empty if it is not known. */
  readonly url: string;
  readonly secrets: readonly KnownSecret[];
}

/** A secret that the caller knows. */
export interface KnownSecret {
  readonly text: string;
  /** Whether the listener accepts it. */
  readonly accepted: boolean;
}

/** Limits a search by the work it does and not by time, so that the result is the same on every machine. */
export interface WorkBudget {
  /** Call it before this many bytes are hashed, or handled at about the same cost. */
  spend(bytes: number): void;
  /** Adds to the whole budget, for what is tried only under a condition. */
  add(bytes: number): void;
  /** Sets the share of the whole budget that may be used up from now on, from 0 to 1. */
  allow(share: number): void;
  readonly isSpent: boolean;
}

/** The fixed cost of one hash, in bytes (bench/diagnose.bench.mjs). */
export const BYTES_PER_HASH = 3_500;

/** About 900 hashes of 1 KB; for 64 KB enough for every single mistake but the rarest variants and ways to write a body. */
const BYTES_AT_LEAST = 3_500_000;

const BYTES_PER_BODY_BYTE = 800;

/** A new budget for one search over a body of this length. */
export function workBudget(bodyBytes: number): WorkBudget {
  let total = BYTES_AT_LEAST + BYTES_PER_BODY_BYTE * Math.min(bodyBytes, MAX_BODY_BYTES);
  let spent = 0;
  let allowed = total;
  return {
    spend(bytes) {
      spent += bytes + BYTES_PER_HASH;
    },
    add(bytes) {
      total += bytes;
      allowed += bytes;
    },
    allow(share) {
      allowed = total * share;
    },
    get isSpent() {
      return spent >= allowed;
    },
  };
}

/** The bodies that may have been signed instead of the received one: two dimensions, each computed when needed. */
export type SignedBodies = {
  /** How the JSON was written. `undefined` where that is impossible, or gives the same text as an earlier option. */
  readonly serialising: readonly Option<() => Uint8Array | undefined>[];
  /** What was done to the bytes afterwards. */
  readonly encoding: readonly Option<(body: Uint8Array | undefined) => Uint8Array | undefined>[];
};

const SERIALISINGS: readonly Option<Reserialise>[] = optionsOf((json) => json?.text, SERIALISING_MISTAKES);

const ENCODINGS: readonly Option<Reencode>[] = optionsOf((bytes) => bytes, ENCODING_MISTAKES);

/** Parsing and writing JSON takes about as long as hashing this many times its length. */
const COST_OF_WRITING = 8;

/** Where it is made of little but brackets, numbers or names, its tokens cost more than its length. */
const COST_OF_TOKEN = 24;
const COST_OF_DISTINCT_TOKEN = 70;

/** Encoding likewise, and of what comes out. */
const COST_OF_ENCODING = 4;

/** Works out which bodies may have been signed where this one was received. */
export function signedBodies(received: Uint8Array, budget: WorkBudget): SignedBodies {
  const json = readJson(received);
  const { tokens = [], table } = json ?? {};
  const costOfTokens = COST_OF_TOKEN * tokens.length + COST_OF_DISTINCT_TOKEN * (table?.texts.length ?? 0);
  const costOfWriting = Math.max(received.length * COST_OF_WRITING, costOfTokens);
  const seen = new Set<string | undefined>([json?.text]);
  const serialising = SERIALISINGS.map((option, index) => {
    if (index === 0) return { ...option, repeat: () => received };
    return {
      ...option,
      repeat: once(() => {
        const text = option.repeat(json);
        if (text === undefined) return undefined;
        budget.spend(costOfWriting);
        if (seen.has(text) || isOneBlankApart(json?.text ?? "", text)) return undefined;
        seen.add(text);
        return utf8(text);
      }),
    };
  });
  const encoding = ENCODINGS.map((option, index) => {
    if (index === 0) return { ...option, repeat: (body: Uint8Array | undefined) => body };
    const made = new Map<Uint8Array, Uint8Array | undefined>();
    return {
      ...option,
      repeat(body: Uint8Array | undefined) {
        if (body === undefined || made.has(body)) return body && made.get(body);
        const encoded = option.repeat(body);
        budget.spend(body.length + COST_OF_ENCODING * (encoded?.length ?? 0));
        made.set(body, encoded && isSame(encoded, body) ? undefined : encoded);
        return made.get(body);
      },
    };
  });
  return { serialising, encoding };
}

/** A value that is worked out when it is first asked for. */
export function once<Value>(make: () => Value): () => Value {
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
