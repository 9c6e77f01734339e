import { ACCEPTANCE_PROBES } from "./acceptance-probes.js";
import { BODY_PROBES } from "./body-probes.js";
import { CLAIM_PROBES } from "./claim-probes.js";
import type { Craft } from "./craft.js";
import { matchesAny } from "./glob.js";
import { HEADER_PROBES } from "./header-probes.js";
import type { HmacCraft } from "./hmac-craft.js";
import type { JwtCraft } from "./jwt-craft.js";
import type { Probe, ProbeMethod } from "./probe.js";
import type { Recipe } from "./recipe.js";
import { REPLAY_PROBES } from "./replay-probes.js";
import { SIGNATURE_PROBES } from "./signature-probes.js";
import { TOKEN_PROBES } from "./token-probes.js";

const FOR_BOTH: readonly Recipe[] = [
  ...ACCEPTANCE_PROBES,
  ...REPLAY_PROBES,
  ...HEADER_PROBES,
  ...BODY_PROBES,
];
const FOR_TOKENS: readonly Recipe<JwtCraft>[] = [...TOKEN_PROBES, ...CLAIM_PROBES];

/** The recipes for each method. */
export const HMAC_BATTERY: readonly Recipe<HmacCraft>[] = [...FOR_BOTH, ...SIGNATURE_PROBES];
export const JWT_BATTERY: readonly Recipe<JwtCraft>[] = [...FOR_BOTH, ...FOR_TOKENS];

/**
 * Every probe, as data: what it sends, what the specification says, and whether it runs the automation.
 * docs/probes.md is made from it.
 *
 * @example
 * ```ts
 * import { probes } from "hookproof/probes";
 *
 * const harmless = probes.filter(({ runsAutomation }) => !runsAutomation);
 * ```
 */
export const probes: readonly Probe[] = [
  ...FOR_BOTH.map((recipe) => factsOf(recipe, ["hmac", "jwt"])),
  ...SIGNATURE_PROBES.map((recipe) => factsOf(recipe, ["hmac"])),
  ...FOR_TOKENS.map((recipe) => factsOf(recipe, ["jwt"])),
];

/** Which probes of the battery are meant. */
export interface ProbeSelection {
  /** Only the probes with these ids; `*` stands for any text. */
  readonly only?: string | readonly string[] | undefined;
  /** Not the probes with these ids. */
  readonly skip?: string | readonly string[] | undefined;
}

/**
 * The probes that are meant, in the order in which they run; all of one method, or of both.
 *
 * @throws {RangeError} for a pattern in `only` or `skip` that fits no probe
 *
 * @example
 * ```ts
 * import { selectProbes } from "hookproof/probes";
 *
 * selectProbes({ method: "hmac", only: "timestamp-*" }).length;
 * ```
 */
export function selectProbes(
  selection: ProbeSelection & { readonly method?: ProbeMethod | undefined },
): Probe[] {
  const { method } = selection;
  const own = method === undefined ? probes : probes.filter(({ methods }) => methods.includes(method));
  return own.filter(({ id }) => isSelected(id, selection, own));
}

/** The recipes of a battery that are meant. */
export function selectRecipes<Kit extends Craft>(
  battery: readonly Recipe<Kit>[],
  selection: ProbeSelection,
): Recipe<Kit>[] {
  return battery.filter(({ id }) => isSelected(id, selection, battery));
}

function isSelected(
  id: string,
  { only, skip = [] }: ProbeSelection,
  all: readonly { readonly id: string }[],
): boolean {
  for (const [name, patterns] of Object.entries({ only: only ?? [], skip })) {
    const stray = [patterns].flat().find((pattern) => !all.some((one) => matchesAny(one.id, pattern)));
    if (stray !== undefined)
      throw new RangeError(`${name} has a pattern that fits no probe: ${JSON.stringify(stray)}`);
  }
  return (only === undefined || matchesAny(id, only)) && !matchesAny(id, skip);
}

function factsOf(
  { id, title, section, expected, runsAutomation, leftOpen, decision, means, fix }: Omit<Probe, "methods">,
  methods: readonly ProbeMethod[],
): Probe {
  const facts = { id, title, methods, section, expected, runsAutomation, leftOpen, means, fix };
  return decision === undefined ? facts : { ...facts, decision };
}
