// The types of schemas by Standard Schema, and of the payloads they describe.
import type { WebhookEvent } from "../core/event.js";

/** One mistake, as a schema names it. */
interface SchemaIssue {
  /** What is wrong. It may quote the value, so it is shown only where it does not. */
  readonly message: string;
  /** The way to the mistake, from the outside to the inside. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema answers: the value it made, or the mistakes it found. */
type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A schema of zod, valibot, arktype or any other library that follows https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = unknown> {
  /** The members that the standard asks for. */
  readonly "~standard": {
    /** The version of the standard. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Checks a value, at once or later. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For the compiler only. */
    readonly types?:
      | {
          /** What it takes. */
          readonly input: Input;
          /** What it gives. */
          readonly output: Output;
        }
      | undefined;
  };
}

/**
 * The catalogue of events: a schema for each type. It describes the whole payload, `type` included.
 *
 * @example
 * ```ts
 * import type { EventSchemas } from "hookproof";
 *
 * type Events = { "user.offboarded": { type: "user.offboarded"; userId: string } };
 * // z.object({ type: z.literal("user.offboarded"), userId: z.string() }) is one of them
 * export type Schema = EventSchemas<Events>["user.offboarded"];
 * ```
 */
export type EventSchemas<Events> = {
  readonly [Type in keyof Events]: StandardSchema<Events[Type], { readonly type: Type }>;
};

/** The events where none are named: any payload. */
export type UntypedEvents = Record<string, unknown>;

/**
 * The payloads that a typed sender or outbox takes: those of its events, each with its `type`, and the events that
 * `sender.createEvent` made. Without types it is any payload.
 *
 * @example
 * ```ts
 * import type { EventPayload } from "hookproof";
 *
 * type Events = { "user.offboarded": { userId: string } };
 * export const payload: EventPayload<Events> = { type: "user.offboarded", userId: "u_123" };
 * ```
 */
export type EventPayload<Events> = string extends keyof Events
  ? unknown
  :
      | { [Type in keyof Events]: Events[Type] & { readonly type: Type } }[keyof Events]
      | (WebhookEvent & { readonly type?: never });
