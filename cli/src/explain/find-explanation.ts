// Finds what is known of a code, a status, a mistake or an exit code.
import { describeCode, describeStatus, errorCodes, type Mistake } from "hookproof/diagnose";
import type { Probe } from "hookproof/probes";
import { probesOf, schemeMistakes } from "../schemes/chosen-scheme.js";
import { SCHEME_NAMES } from "../schemes/schemes.js";
import { COMMAND_LINE, EXITS, type Explanation } from "./command-line.js";
import { EXAMPLES } from "./examples.js";

/** What is known of an error code, a mistake of the catalogue, an exit code or an HTTP status. */
export interface Explained {
  readonly kind: "code" | "mistake" | "exit" | "status" | "probe" | "word";
  readonly name: string;
  readonly explanation: Explanation;
  /** The scheme whose mistake it is; of the service's own scheme none is named. */
  readonly scheme?: string;
  /** What an error code says in one sentence, or the title of a mistake. */
  readonly message?: string;
  /** The HTTP status that a listener answers with. */
  readonly status?: number;
  /** The codes that a listener answers with an HTTP status. */
  readonly codes?: readonly string[];
  /** What leads to an error code. */
  readonly example?: string;
}

/** Finds a mistake by its id, an exit code, an HTTP status, or an error code in any case. */
export async function findExplanation(given: string): Promise<Explained | undefined> {
  // A mistake comes before a code of the same name in another case: body-not-json and BODY_NOT_JSON.
  return (
    (await findMistake(given)) ??
    findExit(given) ??
    findStatus(given) ??
    findCode(given.toUpperCase().replaceAll("-", "_")) ??
    (await import("./elsewhere.js")).findElsewhere(given)
  );
}

/** Mistakes and probes are written so; codes may be. */
const ID = /^[a-z][a-z0-9-]*$/;

/**
 * What is known under a name: of the service's own scheme, and then of each other one, or of one scheme alone. Several
 * schemes may have a mistake of the same name, and a probe may be named after a mistake.
 */
export async function findExplanations(given: string, scheme?: string): Promise<readonly Explained[]> {
  const own = (await findExplanation(given)) ?? [];
  if (!ID.test(given)) return [own].flat();
  const isMeant = ({ id }: { readonly id: string }) => id === given;
  const ofSchemes = [
    ...(await schemeMistakes(scheme)).filter(isMeant).map(explained),
    ...(await schemeProbes(scheme)).filter(isMeant).map(probeInWords),
  ];
  if (scheme !== undefined && ofSchemes.length > 0) return ofSchemes;
  const { selectProbes } = await import("hookproof/probes");
  return [own, selectProbes({}).filter(isMeant).map(probeInWords), ofSchemes].flat();
}

/** The probes of every scheme but the service's own, or of one, each with the scheme's name. */
async function schemeProbes(scheme: string | undefined): Promise<(ProbeInWords & { scheme: string })[]> {
  const names = SCHEME_NAMES.filter((name) => scheme === undefined || name === scheme);
  const found = await Promise.all(
    names.map(async (name) => (await probesOnce(name)).map((probe) => ({ ...probe, scheme: name }))),
  );
  return found.flat();
}

const made = new Map<string, ReturnType<typeof probesOf>>();

/** A scheme's probes; each list is made once, as it takes a new key. */
function probesOnce(name: string): ReturnType<typeof probesOf> {
  const known = made.get(name) ?? probesOf(name);
  made.set(name, known);
  return known;
}

type ProbeInWords = Pick<Probe, "id" | "title" | "means" | "fix">;

function probeInWords({ id, title, means, fix, scheme }: ProbeInWords & { scheme?: string }): Explained {
  const of = scheme === undefined ? {} : { scheme };
  return { kind: "probe", name: id, ...of, explanation: [means, fix], message: title };
}

function findCode(code: string): Explained | undefined {
  const examples: Readonly<Record<string, string>> = EXAMPLES;
  const found = { kind: "code", name: code, example: examples[code] ?? "" } as const;
  const described = describeCode(code, "command");
  if (described) {
    const { cause, fix, message, status } = described;
    return { ...found, explanation: [cause, fix], message, ...(status === undefined ? {} : { status }) };
  }
  const own: Readonly<Record<string, Explanation>> = COMMAND_LINE;
  const explanation = Object.hasOwn(own, code) ? own[code] : undefined;
  return explanation && { ...found, explanation };
}

function findExit(given: string): Explained | undefined {
  const exit = /^(?:exit-?)?([0-9]{1,3})$/.exec(given)?.[1];
  const explanation = exit === undefined ? undefined : EXITS[Number(exit)];
  return exit === undefined || !explanation ? undefined : { kind: "exit", name: exit, explanation };
}

function findStatus(given: string): Explained | undefined {
  const described = /^[1-5][0-9]{2}$/.test(given) ? describeStatus(Number(given), "command") : undefined;
  if (described === undefined) return undefined;
  const { status, message, causes, fix, codes } = described;
  const cause = causes.length > 0 ? `Likely: ${causes.join("; ")}.` : message;
  return { kind: "status", name: given, status, message, explanation: [cause, fix], codes };
}

async function findMistake(given: string): Promise<Explained | undefined> {
  if (!ID.test(given)) return undefined;
  const found = (await named()).find(({ id }) => id === given);
  return found && explained(found);
}

/** What `diagnose` and `compare` can find. */
async function named() {
  const { changes, mistakes } = await import("hookproof/diagnose");
  return [...(await mistakes()), ...changes];
}

function explained({ id, title, message, fix, scheme }: Mistake & { scheme?: string }): Explained {
  const of = scheme === undefined ? {} : { scheme };
  return { kind: "mistake", name: id, ...of, explanation: [message, fix], message: title };
}

/** Every error code, mistake, probe and exit code. */
export async function explainableNames(): Promise<string[]> {
  const { selectProbes } = await import("hookproof/probes");
  const probes = [...selectProbes({}), ...(await schemeProbes(undefined))];
  const ids = [...(await named()), ...(await schemeMistakes()), ...probes].map(({ id }) => id);
  const { BETWEEN_NAMES } = await import("./elsewhere.js");
  const codes = [...errorCodes(), ...Object.keys(COMMAND_LINE), ...BETWEEN_NAMES];
  return [...new Set([...codes, ...ids, ...Object.keys(EXITS)])];
}

/** A search gives no more: who gets a longer list needs another word. */
const MAX_FOUND = 12;
/** No name and no word is longer. */
const LONGEST_SEARCH = 100;

/** Something that has the words that were searched for. */
export interface Hit {
  readonly kind: Explained["kind"];
  readonly name: string;
  readonly scheme?: string;
  /** The sentence in which the words stand. */
  readonly says: string;
}

/** What an operating system, Node or a tool calls a thing, in the words of the codes. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "CONNECTION_FAILED",
  ENOTFOUND: "CONNECTION_FAILED",
  EAI_AGAIN: "CONNECTION_FAILED",
  EHOSTUNREACH: "CONNECTION_FAILED",
  ENETUNREACH: "CONNECTION_FAILED",
  ECONNRESET: "CONNECTION_LOST",
  EPIPE: "CONNECTION_LOST",
  UND_ERR_SOCKET: "CONNECTION_LOST",
  ETIMEDOUT: "TIMED_OUT",
  ESOCKETTIMEDOUT: "TIMED_OUT",
  UND_ERR_CONNECT_TIMEOUT: "TIMED_OUT",
  UND_ERR_HEADERS_TIMEOUT: "TIMED_OUT",
  UND_ERR_BODY_TIMEOUT: "TIMED_OUT",
  DEPTH_ZERO_SELF_SIGNED_CERT: "TLS_FAILED",
  SELF_SIGNED_CERT_IN_CHAIN: "TLS_FAILED",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "TLS_FAILED",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "TLS_FAILED",
  CERT_HAS_EXPIRED: "TLS_FAILED",
  ERR_TLS_CERT_ALTNAME_INVALID: "TLS_FAILED",
  HPE_INVALID_CONSTANT: "RESPONSE_INVALID",
  EPROTO: "RESPONSE_INVALID",
  EADDRINUSE: "PORT_IN_USE",
  EACCES: "FILE_UNREADABLE",
  ENOENT: "FILE_UNREADABLE",
  EROFS: "FILE_UNWRITABLE",
  ENOSPC: "FILE_UNWRITABLE",
  EPERM: "FILE_UNREADABLE",
  ECONNABORTED: "CONNECTION_LOST",
  EAI_FAIL: "CONNECTION_FAILED",
  SQLITE_BUSY: "OUTBOX_UNAVAILABLE",
  ERR_JWT_EXPIRED: "CLAIM_EXP_INVALID",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "TOKEN_SIGNATURE_MISMATCH",
  ERR_JWKS_NO_MATCHING_KEY: "KEY_NOT_FOUND",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "KEY_NOT_FOUND",
};

/** What programs say where the codes have other words. */
const OTHER_WORDS: readonly (readonly [words: RegExp, name: string])[] = [
  [/socket hang up|connection reset|broken pipe|remote end closed|empty reply/, "CONNECTION_LOST"],
  [
    /fetch failed|connection refused|could not resolve host|no such host|no route to host/,
    "CONNECTION_FAILED",
  ],
  [
    /self[- ]signed|unable to verify the first certificate|unknown authority|certificate verify failed/,
    "TLS_FAILED",
  ],
  [/wrong version number|packet length too long/, "RESPONSE_INVALID"],
  [/unexpected (?:token|end of json)|json ?decode|jsondecodeerror/, "BODY_NOT_JSON"],
  [/(?:jwt|token|signature has) (?:is )?expired/, "CLAIM_EXP_INVALID"],
  [/jwt signature|signature verification failed/, "TOKEN_SIGNATURE_MISMATCH"],
  [/invalid signature|signature (?:does not|doesn't|didn't) match|bad signature/, "SIGNATURE_MISMATCH"],
  [/no matching key|unable to find a signing key|kid not found/, "KEY_NOT_FOUND"],
  [/clock skew|clock drift|timestamp (?:is )?too old/, "TIMESTAMP_OUT_OF_WINDOW"],
  [/permission denied/, "FILE_UNREADABLE"],
  [/address already in use/, "PORT_IN_USE"],
  [/\b[cx]srf\b|request forgery|authenticity ?token/, "CSRF"],
  [/\bcors\b|preflight/, "CORS"],
  [/ngrok/, "NGROK"],
  [/deadline exceeded|timed out$/, "TIMED_OUT"],
  [/^unauthori[sz]ed$/, "401"],
  [/^forbidden$/, "403"],
  [/^not found$/, "404"],
];

/** What has all the words of a text, in its name or its sentences: whole words before parts of words. */
export async function searchExplanations(given: string, scheme?: string): Promise<readonly Hit[]> {
  const words =
    given
      .slice(0, LONGEST_SEARCH)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return [];
  const ranked: { readonly rank: number; readonly hit: Hit }[] = [];
  const seen = new Set<string>();
  for (const one of await everything(scheme)) {
    const id = `${one.kind} ${one.scheme ?? ""} ${one.name}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const rank = rankOf(one, words);
    const [cause] = one.explanation;
    const of = one.scheme === undefined ? {} : { scheme: one.scheme };
    if (rank !== undefined)
      ranked.push({ rank, hit: { kind: one.kind, name: one.name, ...of, says: one.message ?? cause } });
  }
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_FOUND)
    .map(({ hit }) => hit);
}

/** The code that stands for what a system or a program says: a name, also inside of a sentence, or its words. */
export function codeOfOtherName(given: string): string | undefined {
  const text = given.slice(0, LONGEST_SEARCH * 4);
  const names = text.toUpperCase().match(/[A-Z][A-Z0-9_]{2,60}/g) ?? [];
  const name = names.find((one) => Object.hasOwn(OTHER_NAMES, one));
  if (name !== undefined) return OTHER_NAMES[name];
  const plain = text.trim().toLowerCase();
  return OTHER_WORDS.find(([words]) => words.test(plain))?.[1] ?? numberIn(plain);
}

/** The status or exit code of which a few words speak, such as HTTP 401 or exit code 7. */
function numberIn(text: string): string | undefined {
  return /^(?:http(?:\/[0-9.]+)?|status(?: code)?|exit(?: code)?|error) ([0-9]{1,3})\b/.exec(text)?.[1];
}

/** 0 where the name has all words, 1 where the sentences have them as whole words, 2 as the beginnings of words. */
function rankOf({ name, message = "", explanation, example = "" }: Explained, words: readonly string[]) {
  const ofName = wordsOf(name);
  const all = new Set([...ofName, ...[message, example, ...explanation].flatMap(wordsOf)]);
  if (words.every((word) => ofName.includes(word))) return 0;
  if (words.every((word) => all.has(word))) return 1;
  const isBeginning = (word: string) => word.length > 2 && [...all].some((part) => part.startsWith(word));
  return words.every(isBeginning) ? 2 : undefined;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Every code, status, exit code, mistake and probe in words. */
async function everything(scheme: string | undefined): Promise<readonly Explained[]> {
  const ofSchemes = [
    ...(await schemeMistakes(scheme)).map(explained),
    ...(await schemeProbes(scheme)).map(probeInWords),
  ];
  if (scheme !== undefined) return ofSchemes;
  const { selectProbes } = await import("hookproof/probes");
  const codes = [...errorCodes(), ...Object.keys(COMMAND_LINE)].flatMap((code) => findCode(code) ?? []);
  const exits = Object.keys(EXITS).flatMap((exit) => findExit(exit) ?? []);
  const statuses = Array.from({ length: 500 }, (_, index) => findStatus(String(index + 100)) ?? []).flat();
  const mistakes = (await named()).map(explained);
  return [...codes, ...mistakes, ...selectProbes({}).map(probeInWords), ...statuses, ...exits, ...ofSchemes];
}
