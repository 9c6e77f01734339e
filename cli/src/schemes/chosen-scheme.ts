// Works out which scheme a command uses, and with which settings.
import type { SigningKey } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { ProbeFilter } from "hookproof/probes";
import type { CapturedRequest } from "../capture/raw-request.js";
import type { Args, Command, Flag } from "../command.js";
import type { Config } from "../config/config.js";
import { CliError, EXIT, usageError } from "../failure.js";
import {
  type CliScheme,
  type Proof,
  SCHEME_NAMES,
  SCHEMES,
  type SchemeFlag,
  type SchemeSettings,
  type Verifying,
} from "./schemes.js";

/** A scheme with the settings of one command. */
export interface ChosenScheme extends CliScheme {
  readonly settings: SchemeSettings;
  /** The settings with those of a local listener at `url` in place of what is not given. */
  settingsFor(url: string): SchemeSettings;
}

/** The scheme of a profile, with what both sides have agreed on. */
export function configuredScheme(config: Config): SchemeSettings | undefined {
  const name = config.text("scheme");
  if (name === undefined) return undefined;
  return { name, ...eachSetting((_flag, setting) => config.text(setting)) };
}

/** The scheme that the flags name, or else `known`: that of a profile, a local listener or an event that was sent. */
export function schemeOf(args: Args, known?: SchemeSettings): ChosenScheme | undefined {
  const name = args.text("scheme") ?? known?.name;
  const scheme = name === undefined || !Object.hasOwn(SCHEMES, name) ? undefined : SCHEMES[name];
  const stray = FLAGS.find((flag) => args.isGiven(flag) && scheme?.flags[flag] === undefined);
  if (stray !== undefined) {
    const [user] = Object.entries(SCHEMES).find(([, { flags }]) => flags[stray] !== undefined) ?? [];
    throw usageError(`--${stray} is for --scheme ${user}.`);
  }
  if (name === undefined) return undefined;
  if (scheme === undefined)
    throw usageError(
      `This version knows no scheme ${JSON.stringify(name)}.`,
      `It knows ${SCHEME_NAMES.join(", ")}.`,
    );
  const kept = known?.name === name ? known : undefined;
  const settings = { name, ...eachSetting((flag, setting) => args.text(flag) ?? kept?.[setting]) };
  const given = withoutUndefined(settings);
  return { ...scheme, settings, settingsFor: (url) => ({ ...scheme.local(url), ...given }) };
}

/** The settings of a scheme as they are kept for later. */
export function keptOf({ settings }: ChosenScheme): SchemeSettings {
  return withoutUndefined(settings);
}

function withoutUndefined(settings: SchemeSettings): SchemeSettings {
  const { name, ...others } = settings;
  return { name, ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)) };
}

/** Each flag with the setting that it is. */
const SETTING_OF = {
  issuer: "issuer",
  audience: "audience",
  "key-id": "keyId",
  "header-names": "headerNames",
  "secret-form": "secretForm",
  padding: "padding",
} as const satisfies Record<SchemeFlag, keyof SchemeSettings>;

const FLAGS = Object.keys(SETTING_OF) as SchemeFlag[];

type OwnSetting = (typeof SETTING_OF)[SchemeFlag];

/** The settings of all schemes, each as the function gives it. */
function eachSetting(textOf: (flag: SchemeFlag, setting: OwnSetting) => string | undefined) {
  const entries = FLAGS.map((flag) => [SETTING_OF[flag], textOf(flag, SETTING_OF[flag])]);
  return Object.fromEntries(entries) as Record<OwnSetting, string | undefined>;
}

/** The settings that the flags of schemes give, for a profile. */
export function schemeSettings(
  own: (flag: string) => string | undefined,
): Record<string, string | undefined> {
  return eachSetting((flag) => own(flag));
}

/** Refuses a proof that the scheme does not have, and one that lacks a flag it needs. */
export function requireProof({ settings, proofs, flags }: ChosenScheme, proof: Proof): void {
  const scheme = `--scheme ${settings.name}`;
  if (!proofs.includes(proof))
    throw proof === "key"
      ? usageError(`${scheme} signs with a secret, not with a key.`, "Give it with --secret-file <path>.")
      : usageError(
          `${scheme} signs with a key, not with a secret.`,
          "Name a key with --key <kid|file>; hookproof keys generate makes one.",
        );
  const missing = FLAGS.find(
    (flag) => flags[flag]?.proofs.includes(proof) && settings[SETTING_OF[flag]] === undefined,
  );
  if (missing !== undefined) throw usageError(`${scheme} needs --${missing}.`, flags[missing]?.meaning);
}

/** What makes a signer or verifier of a scheme; a wrong secret is a wrong set-up and no crash. */
export async function madeWith<Made>({ secretHint }: CliScheme, make: () => Promise<Made>): Promise<Made> {
  try {
    return await make();
  } catch (error) {
    const text = sentence(error instanceof Error ? error.message : String(error));
    throw new CliError(EXIT.setup, "SECRET_INVALID", text, { hint: secretHint });
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** What the profile's secret or key would prove a request with. */
function configuredProof({ proofs }: CliScheme, config: Config): Proof {
  const [only, second] = proofs;
  if (only !== undefined && second === undefined) return only;
  const method = config.text("method") ?? (config.text("key") === undefined ? "hmac" : "jwt");
  return method === "jwt" ? "key" : "secret";
}

/** Why a profile's scheme cannot be used as it is set, or what it is; undefined for a profile without one. */
export function checkedScheme(args: Args, config: Config): { title: string; problem?: CliError } | undefined {
  const scheme = schemeOf(args, configuredScheme(config));
  if (scheme === undefined) return undefined;
  const { name } = scheme.settings;
  const title = `${scheme.title} (--scheme ${name})`;
  const proof = configuredProof(scheme, config);
  const method = config.text("method");
  if (method !== undefined && (method === "jwt") !== (proof === "key")) {
    const text = `The profile's method is ${method}, and --scheme ${name} signs with a ${proof}.`;
    return { title, problem: usageError(text, "Leave out method in the profile.") };
  }
  try {
    requireProof(scheme, proof);
    return { title };
  } catch (problem) {
    if (problem instanceof CliError) return { title, problem };
    throw problem;
  }
}

/** The probes of a scheme as data, without a listener: with a secret or key that is made for them. */
export async function probesOf(name: string, filter: ProbeFilter = {}) {
  const { probed, newSecret, local } = SCHEMES[name] as CliScheme;
  const url = "https://listener.invalid/";
  const secret = await newSecret?.({});
  const proof = secret === undefined ? { key: await anyKey() } : { secrets: [secret] };
  const { schemeProbes, schemeProbeTarget } = await import("hookproof/probes");
  return schemeProbes(await schemeProbeTarget(probed(url, { ...local(url), ...proof })), filter);
}

async function anyKey(): Promise<SigningKey> {
  const { kid, alg, privateJwk } = await (await import("hookproof/jwks")).generateKey({ alg: "ES256" });
  return { key: privateJwk, kid, alg };
}

/** The mistakes behind a refusal as of a time, in milliseconds. */
export async function mistakesBehind(
  { question }: CliScheme,
  request: CapturedRequest,
  verifying: Verifying,
  at: number,
): Promise<readonly Mistake[]> {
  const { diagnose } = await import("hookproof/diagnose");
  // Here for all schemes: one that is not told the time says nothing of a request's age, or judges it by the wrong clock.
  return (await diagnose({ ...question(request, verifying), clock: { now: () => at } })).mistakes;
}

/** The mistakes of every scheme, or of one, each with the scheme's name. */
export async function schemeMistakes(
  name?: string,
): Promise<readonly (Mistake & { readonly scheme: string })[]> {
  const { mistakes } = await import("hookproof/diagnose");
  const chosen = Object.entries(SCHEMES).filter(([one]) => name === undefined || one === name);
  const found = await Promise.all(
    chosen.map(async ([ofFlag, { scheme }]) =>
      (await mistakes(scheme)).map((mistake) => ({ ...mistake, scheme: ofFlag })),
    ),
  );
  return found.flat();
}

/** The flags of commands that know more than the default scheme. */
export const SCHEME_FLAGS = {
  scheme: {
    type: "string",
    choices: SCHEME_NAMES,
    describe: "another scheme than the service's own",
  },
  ...ofSchemes(),
} as const satisfies Record<string, Flag>;

/** The flags of all schemes, as each says them in its row. */
function ofSchemes(): Record<SchemeFlag, Flag> {
  const rows = Object.values(SCHEMES).flatMap(({ flags }) => Object.entries(flags));
  return Object.fromEntries(
    rows.map(([name, { value, choices, describe }]) => [name, { type: "string", value, choices, describe }]),
  ) as Record<SchemeFlag, Flag>;
}

/** Examples for the help of commands. */
export const SCHEME_EXAMPLES = {
  profile: [
    "hookproof profile add events --target https://rp.example.com/events --scheme set --issuer https://idp.example.com/ --audience https://rp.example.com/ --key 2026-01",
    "then: hookproof send --profile events --event session.revoked",
  ],
  send: [
    "hookproof send https://hooks.example.com/in --scheme http-signature --key 2026-01 -d @event.json",
    "by another scheme, with a key of the store",
  ],
  explain: ["hookproof explain signature-in-der --scheme http-signature", "a mistake of another scheme"],
  listen: ["hookproof listen --scheme standard-webhooks", "for requests of another scheme"],
  sign: [
    "hookproof sign --scheme set --issuer https://idp.example.com/ --audience https://rp.example.com/ -d @event.json",
    "a security event token, with the newest key of the store",
  ],
  test: [
    "hookproof test https://hooks.example.com/in --scheme standard-webhooks --secret-file secret.txt --allow-trigger",
    "a listener of another scheme",
  ],
  verify: [
    "hookproof verify captured.http --scheme http-signature --jwks jwks.json --url https://hooks.example.com/in",
    "a request of another scheme",
  ],
} as const satisfies Record<string, Command["examples"][number]>;
