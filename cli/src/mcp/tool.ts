// What a tool is, as data.
import type { Io } from "../io.js";
import type { Answer, Call } from "./call-command.js";
import type { Listeners } from "./listeners.js";
import type { TargetWords } from "./targets.js";

/** What a tool is given besides its input. */
export interface Session {
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly listeners: Listeners;
  /** The words that name an allowed target; a refusal otherwise. */
  targetWords(given: string): TargetWords;
  /** Runs a command with the configuration and time limit that `mcp` was started with. */
  call(load: Promise<Call["command"]>, words: readonly string[], input?: string): Promise<Answer>;
  /** The words of `--outbox` and `--schema`, as `mcp` was started with them. */
  readonly outboxWords: readonly string[];
}

/** A tool's input, once it has been checked against the schema. */
export type Input = Readonly<Record<string, string | number | boolean | object | undefined>>;

/** A tool as data: the list of tools is made from it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The members of the input, each as a JSON Schema. */
  readonly input: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** What `--allow` must name. */
  readonly needs?: "listen" | "send";
  /**
   * What a call does: `reads`; `starts` something; `ends` it; `repeats` a request on this machine; `sends` anywhere that
   * is allowed.
   */
  readonly effect: "reads" | "starts" | "ends" | "repeats" | "sends";
  call(input: Input, session: Session): Promise<Answer>;
}

/** The hints of the protocol for each effect. */
export const HINTS: Readonly<Record<Tool["effect"], Readonly<Record<string, boolean>>>> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  starts: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  ends: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  repeats: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  sends: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** The words `--flag value` for each member of the input that is given. */
export function flagWords(input: Input, flags: Readonly<Record<string, string>>): string[] {
  return Object.entries(flags).flatMap(([member, flag]) => {
    const value = input[member];
    if (value === undefined || value === false) return [];
    return value === true ? [`--${flag}`] : [`--${flag}`, String(value)];
  });
}

/** A member of an input that is a text. */
export function text(input: Input, member: string): string | undefined {
  const value = input[member];
  return typeof value === "string" ? value : undefined;
}

/** A member of an input that is a number. */
export function number(input: Input, member: string): number | undefined {
  const value = input[member];
  return typeof value === "number" ? value : undefined;
}
