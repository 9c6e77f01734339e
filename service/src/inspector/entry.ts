// A request as the inspector keeps it.
import type { HeaderPair } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { Check } from "hookproof/receiver";
import type { Forwarded, RequestRow } from "./contract.js";

/** A request as it is kept: its row, and what its details are made of. */
export interface Entry {
  readonly row: RequestRow;
  readonly target: string;
  readonly sourceAddress?: string | undefined;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  readonly checks: readonly Check[];
  /** Undefined until somebody has looked for them. */
  readonly mistakes?: readonly Mistake[] | undefined;
  readonly masked?: true | undefined;
  /** How far the listener's clock was ahead of the machine's when the request arrived, in milliseconds; 0 by default. */
  readonly clockAhead?: number | undefined;
  readonly answer: { readonly headers: readonly HeaderPair[]; readonly body: string };
  readonly forwarded?: Forwarded | undefined;
  /** What the listener demanded at that time: it may be another one when the request is looked at. */
  readonly demanded?: Demanded | undefined;
}

/** What would have been right. */
export type Demanded =
  | { readonly auth: "hmac"; readonly expected?: string; readonly secretFingerprints: readonly string[] }
  | {
      readonly auth: "jwt";
      /** The values of the required claims. */
      readonly claims: Readonly<Record<string, string>>;
      /** The key that was found for the token. */
      readonly key?: { readonly kid: string; readonly alg: string; readonly thumbprint?: string };
    }
  | {
      readonly auth: "scheme";
      /** The checks of the scheme. */
      readonly checks: readonly { readonly step: string; readonly rule: string }[];
    };

/** Every value of a header, in order. */
export function headerValues(headers: readonly HeaderPair[], name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter(([one]) => one.toLowerCase() === wanted).map(([, value]) => value);
}

/** The value of a header that was sent exactly once. */
export function onlyHeader(headers: readonly HeaderPair[], name: string): string | undefined {
  const values = headerValues(headers, name);
  return values.length === 1 ? values[0] : undefined;
}

/** Whether the body that is kept is all that was sent: it was read to its end, or there was nothing to read. */
export function isWhole({ checks, headers }: Pick<Entry, "checks" | "headers">): boolean {
  if (checks.length === 0 || checks.some(({ step, ok }) => step === "size" && ok)) return true;
  const announced = headerValues(headers, "Content-Length").some((length) => length !== "0");
  return !announced && headerValues(headers, "Transfer-Encoding").length === 0;
}

/** Roughly how much memory an entry takes. */
export function bytesOf({ target, headers, body, answer, forwarded }: Entry): number {
  const lines = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return (
    1_000 + target.length + lines + body.length + answer.body.length + JSON.stringify(forwarded ?? "").length
  );
}
