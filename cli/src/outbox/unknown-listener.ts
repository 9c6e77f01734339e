// Warns of a listener's name that no event of an outbox has: a mistyped one selects nothing, and fails nowhere.
import type { OutboxStore } from "hookproof/outbox/store";
import type { Context } from "../command.js";
import { didYouMean } from "../failure.js";

/** Warns where `--listener` names none of the outbox's; to be called where a command has found nothing. */
export async function warnOfUnknown(
  { args, out }: Pick<Context, "args" | "out">,
  store: OutboxStore,
): Promise<void> {
  const listener = args.text("listener");
  if (listener === undefined) return;
  const known = (await store.stats()).map((one) => one.listener);
  if (!known.includes(listener)) out.warn(unknownListener(listener, known));
}

/** What is said of such a name, with the nearest that events have. */
export function unknownListener(listener: string, known: readonly string[]): string {
  const others = known.filter((name) => name !== listener);
  const question = didYouMean(listener, others) ?? "Is that its name?";
  return `The outbox has no event for ${JSON.stringify(listener)} now. ${question}`;
}
