import { bodyBytes } from "../primitives/bytes.js";
import {
  CONTENT_TYPE_HEADER,
  EVENT_ID_HEADER,
  type HeaderPair,
  TIMESTAMP_HEADER,
} from "../protocol/headers.js";

/** A raw request: header lines exactly as they are to be sent. */
export interface ProbeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body?: Uint8Array;
}

/** What a request is made of before it is proved. */
export interface Parts {
  readonly url: string;
  readonly timestamp: string;
  readonly eventId: string;
  readonly body: string | Uint8Array;
}

/** What a probe makes its request from: the target, the moment, an event id of its own, and the proof. */
export interface Craft {
  readonly url: string;
  readonly baseUrl: string;
  readonly nowSeconds: number;
  /** New for every run of a probe, in lower case. */
  readonly eventId: string;
  /** A correctly proved request; `parts` replace its own before it is proved. */
  signed(parts?: Partial<Parts>): Promise<ProbeRequest>;
  /** The same with a proof of the right form by somebody else's secret or key. */
  signedByStranger(parts?: Partial<Parts>): Promise<ProbeRequest>;
  /** A proof of the method that the listener does not use. */
  otherMethod(): HeaderPair;
}

/** Where and when: what every craft has before there is a proof. */
export type Scene = Pick<Craft, "url" | "baseUrl" | "nowSeconds" | "eventId">;

/** The body of a probe unless it is about bodies. Receivers that show events show what it is. */
const BODY = '{"type":"hookproof.probe"}';

/** The parts of a correct request. */
export function partsOf({ url, nowSeconds, eventId }: Scene, over: Partial<Parts> = {}): Parts {
  return { url, timestamp: String(nowSeconds), eventId, body: BODY, ...over };
}

/** The parts as a request with this proof. */
export function requestOf({ url, timestamp, eventId, body }: Parts, ...proof: HeaderPair[]): ProbeRequest {
  const headers: HeaderPair[] = [
    [CONTENT_TYPE_HEADER, "application/json"],
    [TIMESTAMP_HEADER, timestamp],
    [EVENT_ID_HEADER, eventId],
    ...proof,
  ];
  return { method: "POST", url, headers, body: bodyBytes(body) };
}

/** The request without a header. */
export function without(request: ProbeRequest, name: string): ProbeRequest {
  return { ...request, headers: request.headers.filter(([key]) => key !== name) };
}

/** The request with another value in a header. */
export function replaced(request: ProbeRequest, name: string, value: string): ProbeRequest {
  return { ...request, headers: request.headers.map(([key, old]) => [key, key === name ? value : old]) };
}

/** The request with one header line more. */
export function added(request: ProbeRequest, name: string, value: string): ProbeRequest {
  return { ...request, headers: [...request.headers, [name, value]] };
}
