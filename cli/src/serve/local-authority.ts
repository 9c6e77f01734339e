// Keeps the user's authority and what loopback targets are trusted by.
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { createPrivateFile, dataFolder, writePrivateFile } from "../files/files.js";
import type { Io } from "../io.js";
import { type Certificate, DAY_MS, issueAuthority, issueLocalhost, pairIn } from "./issue-certificate.js";
import { readOwnFile } from "./own-file.js";

/** An authority that expires sooner is replaced, so that no certificate of it outlives it. */
const RENEWED_DAYS = 60;

type Made = Pick<Io, "env">;

/**
 * A certificate for localhost and the loopback addresses, by this user's own authority, which is made at the first
 * call. The commands trust that authority for loopback targets, and nothing else does; it can sign for nothing else.
 */
export async function localCertificate(io: Io): Promise<Certificate> {
  return issueLocalhost(await authority(io));
}

/** What a loopback target is trusted by: what Node trusts, and the local authority; undefined if there is none. */
export function localTrust(io: Made): string[] | undefined {
  let file: string;
  try {
    file = filesOf(io as Io).cert;
  } catch {
    return undefined; // without a home folder there is no authority
  }
  if (!existsSync(file)) return undefined;
  return [...rootCertificates, ...extraCertificates(io), readOwnFile(file)];
}

/** NODE_EXTRA_CA_CERTS, which Node itself passes over where it cannot be read. */
function extraCertificates({ env }: Made): string[] {
  try {
    return env.NODE_EXTRA_CA_CERTS ? [readFileSync(env.NODE_EXTRA_CA_CERTS, "utf8")] : [];
  } catch {
    return [];
  }
}

/** `pair` has key and certificate in one file, so that they cannot come from two commands that began at once. */
function filesOf(io: Io): { readonly pair: string; readonly cert: string } {
  const folder = join(dataFolder(io), "authority");
  return { pair: join(folder, "authority.key"), cert: join(folder, "authority.pem") };
}

async function authority(io: Io): Promise<Certificate> {
  const files = filesOf(io);
  let pair = keptPair(files.pair);
  if (pair === undefined) {
    const made = await issueAuthority();
    const text = `${made.key}\n${made.cert}\n`;
    // Of two commands that begin at once, one makes the file and both use it. What is old or damaged is replaced.
    const isFirst = await createPrivateFile(files.pair, text);
    if (!isFirst && keptPair(files.pair) === undefined) await writePrivateFile(files.pair, text);
    pair = keptPair(files.pair) ?? made;
  }
  if (!existsSync(files.cert) || readOwnFile(files.cert) !== pair.cert)
    await writePrivateFile(files.cert, pair.cert);
  return pair;
}

/** The authority that is kept; undefined if there is none, it is damaged, or it ends soon. */
function keptPair(file: string): Certificate | undefined {
  if (!existsSync(file)) return undefined;
  const pair = pairIn(readOwnFile(file));
  const left = pair ? Date.parse(new X509Certificate(pair.cert).validTo) - Date.now() : 0;
  return left > RENEWED_DAYS * DAY_MS ? pair : undefined;
}
