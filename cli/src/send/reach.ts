// How a listener is reached: whom to trust, the client certificate, and headers of the user's own.
import { createSender, type HeaderPair, HookproofError, type Signer, type Transport } from "hookproof";
import type { Args, Context } from "../command.js";
import type { Config } from "../config/config.js";
import { authorityOf, isOfFolder, requireInside } from "../config/folder-file.js";
import { SETTINGS, type SettingName } from "../config/settings.js";
import { originOf, type TargetSource } from "../credentials/origin-rule.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readPemFile, readTextFile, requirePrivate } from "../files/files.js";
import type { Io } from "../io.js";

/** A client certificate with its key, in PEM. */
export interface ClientCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly passphrase?: string | undefined;
}

/** How one listener is reached. */
export interface Reach {
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly io: Pick<Io, "env">;
  readonly client?: ClientCertificate | undefined;
  /** Headers of the user's own. They may be credentials: nothing shows their values. */
  readonly headers: readonly HeaderPair[];
  /** Names to which plain HTTP is allowed besides loopback. */
  readonly plainHttpHosts: readonly string[];
}

/** A target, with where its URL came from and the configuration as its profile sees it. */
export interface Reached {
  readonly url: string;
  readonly source: TargetSource;
  readonly config: Config;
}

/**
 * How flags, environment and configuration reach a target. What a configuration names is for the target that it names:
 * another origin gets neither headers nor certificate, unless this command line gives them.
 */
export async function reachOf({ args, io }: Pick<Context, "args" | "io">, to: Reached): Promise<Reach> {
  return {
    ca: authorityFor(to),
    insecure: args.flag("insecure"),
    io,
    client: await clientCertificate(to),
    plainHttpHosts: plainHttpHosts(to.config),
    headers: checkedNames(
      args.isGiven("header") ? await headersOf(args.texts("header")) : [],
      await configuredHeaders(to),
    ),
  };
}

/** A folder's authority is trusted for the target that its configuration names: for any other it could read along. */
export function authorityFor({ url, config }: Pick<Reached, "url" | "config">): string | undefined {
  const authority = authorityOf(config);
  return isOfFolder(config, "ca") && !isOwnTarget(config, url) ? undefined : authority;
}

/** Whether a URL has the origin of the target that the files name. */
function isOwnTarget(config: Config, url: string): boolean {
  const own = originOf(config.ownText("target"));
  return own !== undefined && own === originOf(url);
}

/** The names that `--plain-http` or a profile gives; a name of the Internet is refused, and never opened. */
export function plainHttpHosts(config: Config): readonly string[] {
  return checkedPlainHttp(config.texts("plainHttp"));
}

/** Refuses a name of the Internet, as every sender does. */
export function checkedPlainHttp(names: readonly string[]): readonly string[] {
  const transport = () => Promise.reject(new Error("nothing is sent"));
  try {
    createSender({ url: "https://localhost/", signer: unsignedBy([]), transport, plainHttpHosts: names });
  } catch (error) {
    throw usageError(Object(error).message.replace("plainHttpHosts cannot have", "--plain-http cannot be"));
  }
  return names;
}

/** The headers of `--header` for requests that are forwarded with the sender's own, of which these names are not set. */
export async function forwardedHeaders(
  { texts }: Args,
  names: readonly string[],
): Promise<readonly HeaderPair[]> {
  const headers = checkedNames(await headersOf(texts("header")), []);
  const reach = { ca: undefined, insecure: false, io: { env: {} }, headers, plainHttpHosts: [] };
  requireOwnHeaders(reach, "https://localhost/", unsignedBy(names));
  return headers;
}

/** The value of a setting that may go to this target, whatever gave it. */
function allowed({ url, source, config }: Reached, name: SettingName): readonly string[] {
  const found = config.find(name);
  if (found === undefined) return [];
  const { env, flag }: { env: string; flag?: string } = SETTINGS[name];
  const isTyped = flag !== undefined && found.origin === `--${flag}`;
  const isVariable = found.origin === env;
  if (isVariable && source !== "typed" && source !== "environment") return [];
  if (!isTyped && !isVariable) {
    requireInside(config, name, {
      code: "SECRET_FILE_OUTSIDE",
      what: "file",
      flag: `--${flag ?? "header @"}`,
    });
    if (!isOwnTarget(config, url)) return [];
  }
  return config.texts(name);
}

async function configuredHeaders(to: Reached): Promise<HeaderPair[]> {
  return headersOf(allowed(to, "headerFiles").map((file) => `@${file}`));
}

/** Headers as people write them: `Name: value`, `Name: @file`, or `@file` with a `Name: value` on each line. */
async function headersOf(texts: readonly string[]): Promise<HeaderPair[]> {
  const lines: HeaderPair[] = [];
  for (const text of texts) {
    if (!text.startsWith("@")) lines.push(await headerOf(text));
    else lines.push(...(await linesOf(text.slice(1))));
  }
  return lines;
}

async function headerOf(text: string): Promise<HeaderPair> {
  const [name, given] = partsOf(text);
  if (!given.startsWith("@")) return [name, trimmed(given)];
  const value = trimmed(await privateText(given.slice(1)));
  if (value === "") throw invalid(`${given.slice(1)} has no value for the header ${JSON.stringify(name)}.`);
  return [name, value];
}

async function linesOf(file: string): Promise<HeaderPair[]> {
  const lines = (await privateText(file)).split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0) throw invalid(`${file} has no header: each line of it is 'Name: value'.`);
  return lines.map(lineOf);
}

/** A line of a file of headers. It names no other file: who wrote it could name any file of this user. */
function lineOf(line: string): HeaderPair {
  const [name, given] = partsOf(line);
  if (!given.startsWith("@")) return [name, trimmed(given)];
  throw invalid(
    `The header ${JSON.stringify(name)} of a file names another file, which is not read.`,
    "Write the value in its place, or name the file on the command line: --header 'Name: @file'.",
  );
}

function partsOf(text: string): HeaderPair {
  const [, name = "", given = ""] = /^([^:]*):[ \t]*(.*)$/s.exec(text) ?? [];
  if (text.startsWith("'") && text.endsWith("'"))
    throw invalid("--header stands in single quotes, which cmd.exe does not take away: use double ones.");
  if (name !== "" && given !== "") return [name, given];
  // Without the text itself, which may be a credential.
  throw invalid("--header must be 'Name: value', 'Name: @file' or @file.");
}

function trimmed(value: string): string {
  return value.replace(/\r?\n$/, "").replace(/(?<![ \t])[ \t]+$/, "");
}

/** What of `--header` may be shown: a file's name, and of a value nothing. */
export function shownHeader(text: string): string {
  return text.startsWith("@") ? text : text.replace(/^([^:]*):[ \t]*(?!@|[ \t]).*$/s, "$1: …");
}

async function privateText(file: string): Promise<string> {
  requirePrivate(file);
  return readTextFile(file);
}

/** What the command line gives comes before what the configuration says of the same name. */
function checkedNames(given: readonly HeaderPair[], configured: readonly HeaderPair[]): HeaderPair[] {
  for (const lines of [given, configured]) {
    const names = lines.map(([name]) => name.toLowerCase());
    const twice = lines.find(([name], at) => names.indexOf(name.toLowerCase()) !== at);
    if (twice) throw invalid(`The header ${JSON.stringify(twice[0])} is given twice.`);
  }
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...given, ...configured.filter(([name]) => !names.has(name.toLowerCase()))];
}

function invalid(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, "HEADER_INVALID", message, { hint });
}

/** The client certificate of this command line, for a URL that it names too. */
export async function givenCertificate(
  args: Pick<Args, "isGiven">,
  to: Omit<Reached, "source">,
): Promise<ClientCertificate | undefined> {
  const isGiven = ["cert", "key-file", "key-passphrase-file"].some((flag) => args.isGiven(flag));
  return isGiven ? clientCertificate({ ...to, source: "typed" }) : undefined;
}

async function clientCertificate(to: Reached): Promise<ClientCertificate | undefined> {
  const [[certFile], [keyFile], [passphraseFile]] = [
    allowed(to, "cert"),
    allowed(to, "keyFile"),
    allowed(to, "keyPassphraseFile"),
  ];
  if (certFile === undefined) {
    if (keyFile === undefined && passphraseFile === undefined) return undefined;
    throw usageError("--key-file and --key-passphrase-file are for --cert <file>.");
  }
  if (new URL(to.url).protocol !== "https:")
    throw usageError("--cert is for https: over plain HTTP nobody asks for a certificate.");
  requirePrivate(keyFile ?? certFile);
  const cert = await readPemFile(certFile);
  const key = keyFile === undefined ? cert : await readPemFile(keyFile);
  const passphrase =
    passphraseFile === undefined ? undefined : (await privateText(passphraseFile)).replace(/\r?\n$/, "");
  const { checkedPair } = await import("../serve/certificate-pair.js");
  checkedPair({ cert, key, passphrase }, { cert: "--cert", key: keyFile ? "--key-file" : "--cert" });
  return { cert, key, passphrase };
}

/** Refuses headers that belong to the protocol: of a signer's scheme, or those that a request has already. */
export function requireOwnHeaders({ headers, plainHttpHosts }: Reach, url: string, signer: Signer): void {
  try {
    const transport = () => Promise.reject(new Error("nothing is sent"));
    createSender({ url, signer, transport, headers: Object.fromEntries(headers), plainHttpHosts });
  } catch (error) {
    const [, name] = /^headers must not set (.+?): /.exec(Object(error).message) ?? [];
    if (name !== undefined)
      throw new CliError(
        EXIT.usage,
        "HEADER_RESERVED",
        `The header ${JSON.stringify(name)} belongs to the protocol, which sets it itself.`,
      );
    if (error instanceof HookproofError && error.code === "HEADER_INVALID") throw invalid(error.message);
    throw error;
  }
}

/** In place of a signer for requests that are sent as they are, with these headers of their own. */
export function unsignedBy(names: readonly string[]): Signer {
  const refused = () => {
    throw new Error("nothing is signed");
  };
  return {
    scheme: {
      name: "as-it-is",
      proof: "event",
      contentType: "application/json",
      ownHeaders: names,
      targetUrl: (url) => url,
      classify: refused,
    },
    sign: refused,
  };
}

/** The same transport with the user's headers; an answer that repeats one of their values shows it to nobody. */
export function withHeaders(send: Transport, { headers }: Reach): Transport {
  if (headers.length === 0) return send;
  const values = headers.map(([, value]) => value);
  return async (request) => {
    const { withoutValues } = await import("hookproof/node");
    const scrubbed = (text: string) => withoutValues(text, values, "[...]");
    const answer = await send({ ...request, headers: [...request.headers, ...headers] });
    return {
      ...answer,
      headers: answer.headers.map(([name, value]): HeaderPair => [name, scrubbed(value)]),
      body: Buffer.from(scrubbed(Buffer.from(answer.body).toString("latin1")), "latin1"),
    };
  };
}
