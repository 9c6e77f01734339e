// What a probe is, as data.
import type { ProbeRequest, RequestKit } from "./requests.js";

/** How a listener authenticates requests (specification 5.2): HMAC signatures or JWTs. */
export type AuthenticationMethod = "hmac" | "jwt";

/**
 * What the specification leaves to the listener: `none`, nothing; `status`, the status of a refusal, but it must
 * refuse; `refusal`, whether it refuses at all. Where the listener may choose, another answer is unclear and no failure.
 */
type ListenerChoice = "none" | "status" | "refusal";

/** A request that tests one rule of the specification, as data. */
export interface Probe {
  /** A stable name, such as `timestamp-too-old`. */
  readonly id: string;
  /** What is sent, such as `a timestamp of an hour ago`. */
  readonly title: string;
  /** The methods of listeners that it is sent to. */
  readonly methods: readonly AuthenticationMethod[];
  /** The section of the specification with the rule, such as `5.2`. */
  readonly section: string;
  /** The statuses of a correct listener. */
  readonly expected: readonly number[];
  /** Whether a correct listener runs its automation for this request. */
  readonly runsAutomation: boolean;
  /** What the specification leaves to the listener. */
  readonly listenerChoice: ListenerChoice;
  /** Where `expected` comes from if the specification does not say it: a decision of this project by its number, or an RFC. */
  readonly decision?: string;
  /** What is wrong with a listener that answers otherwise. */
  readonly means: string;
  /** How to correct such a listener. */
  readonly fix: string;
}

/** A request that is ready to be sent, or why it cannot be made for this target. */
export type BuiltRequest = ProbeRequest | { readonly skip: string };

type Build<Kit> = (kit: Kit) => BuiltRequest | Promise<BuiltRequest>;

/** A probe with the function that makes its request. */
export interface ProbeDefinition<Kit extends RequestKit = RequestKit> extends Omit<Probe, "methods"> {
  /** Makes the request; the kit has a new event id for every call. */
  readonly build: Build<Kit>;
  /** A request that is sent before; the probe is skipped unless the listener answers it with this status. */
  readonly before?: { readonly build: Build<Kit>; readonly status: number | readonly number[] };
  /** How many copies are sent at the same time; the listener must accept exactly one. */
  readonly copies?: number;
  /** Whether the right answer depends on the exact second. Then the probe is sent again if a second passes meanwhile. */
  readonly boundary?: boolean;
}

type Given<Kit extends RequestKit> = Omit<
  ProbeDefinition<Kit>,
  "expected" | "runsAutomation" | "listenerChoice"
> &
  Partial<Pick<ProbeDefinition<Kit>, "runsAutomation" | "listenerChoice">>;

/** A probe that a correct listener accepts: it runs its automation. */
export function accepts<Kit extends RequestKit = RequestKit>(probe: Given<Kit>): ProbeDefinition<Kit> {
  return { expected: [200], runsAutomation: true, listenerChoice: "none", ...probe };
}

/** A probe that a correct listener refuses with this status. */
export function refuses<Kit extends RequestKit = RequestKit>(
  status: number,
  probe: Given<Kit>,
): ProbeDefinition<Kit> {
  return { expected: [status], runsAutomation: false, listenerChoice: "none", ...probe };
}
