// Every advice that the doctor and the command line give, as it is printed.
import { changes, describeCode, describeStatus, errorCodes, mistakes } from "hookproof/diagnose";
import { probes } from "hookproof/probes";
import { COMMAND_LINE, EXITS } from "../../../cli/src/explain/command-line.js";

export interface Advice {
  readonly kind: "code" | "status" | "exit" | "mistake" | "change" | "probe";
  readonly id: string;
  /** The scheme of a mistake, where it is not the default one. */
  readonly scheme?: string;
  readonly fix: string;
}

const SCHEMES = ["standard-webhooks", "http-signature", "security-event-token"] as const;
const STATUSES = Array.from({ length: 500 }, (_, index) => index + 100);

/** The advice as it is printed on the command line. */
export async function allAdvice(): Promise<readonly Advice[]> {
  const ofSchemes = await Promise.all(
    SCHEMES.map(async (scheme) =>
      (await mistakes(scheme)).map(({ id, fix }): Advice => ({ kind: "mistake", id, scheme, fix })),
    ),
  );
  return [
    ...errorCodes().map((id): Advice => ({ kind: "code", id, fix: describeCode(id, "command")?.fix ?? "" })),
    ...Object.entries(COMMAND_LINE).map(([id, [, fix]]): Advice => ({ kind: "code", id, fix })),
    ...STATUSES.flatMap((status): Advice[] => {
      const fix = describeStatus(status, "command")?.fix;
      return fix === undefined ? [] : [{ kind: "status", id: String(status), fix }];
    }),
    ...Object.entries(EXITS).map(([id, [, fix]]): Advice => ({ kind: "exit", id, fix })),
    ...(await mistakes()).map(({ id, fix }): Advice => ({ kind: "mistake", id, fix })),
    ...ofSchemes.flat(),
    ...changes.map(({ id, fix }): Advice => ({ kind: "change", id, fix })),
    ...probes.map(({ id, fix }): Advice => ({ kind: "probe", id, fix })),
  ];
}

/** Commands of ours in a text, each as it is printed, to the end of its words. */
export function commandsIn(text: string): string[] {
  return [
    ...text.matchAll(
      /\bhookproof (?:[a-z]+)(?: (?:[a-z]+\b(?=$|[:;,.]| [<|-])|--[\w-]+|<[\w ]+>|-(?=$|[ .])|[\w-]+\.json|[|] hookproof))*/g,
    ),
  ].map(([command]) => command.trim());
}
