// Why a request was answered as it was, in words.
import { describeCode, type Mistake } from "hookproof/diagnose";
import type { RequestRow } from "./contract.js";

/** Why a request was answered as it was, in words: the mistake behind it, or what the code says. */
export function reasonOf(code: string | undefined, mistakes: readonly Mistake[] | undefined): string {
  if (code === undefined) return "accepted";
  return mistakes?.[0]?.message ?? describeCode(code)?.message ?? code;
}

/** The status of the verdict, whatever was answered. */
export function statusOfVerdict({ status, verdictStatus }: RequestRow): number {
  return verdictStatus ?? status;
}
