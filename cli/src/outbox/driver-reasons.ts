// Says why the driver of PostgreSQL could not open a database.
import { reasonOf } from "../files/files.js";

const ELSEWHERE = "Compare host and port with those of the server.";
const UNKNOWN_HOST = "the name of its host is not known";

/** What the codes of the driver, of the system below it and of the server mean, and what to do. */
const DRIVER_REASONS: Readonly<Record<string, readonly [words: string, hint?: string]>> = {
  ECONNREFUSED: ["nothing listens there", `Is PostgreSQL running? ${ELSEWHERE}`],
  ECONNRESET: ["what listens there ended the connection", ELSEWHERE],
  EHOSTUNREACH: ["there is no way to its host", ELSEWHERE],
  ENETUNREACH: ["there is no way to its host", ELSEWHERE],
  ENOTFOUND: [UNKNOWN_HOST, "Look for a typing mistake, or a network that is down."],
  EAI_AGAIN: [UNKNOWN_HOST, "Look for a typing mistake, or a network that is down."],
  ETIMEDOUT: ["it did not answer in time", ELSEWHERE],
  "28000": ["the server does not let this role in", "Its pg_hba.conf says who may come from where."],
  "28P01": ["the server refuses the role or its password"],
  "3D000": ["the server has no such database", "createdb makes one, or name another."],
  "42501": ["the role lacks a right", "The guide on PostgreSQL has the grants that it needs."],
  "53300": ["the server has no connection left", "Try again when another program has ended one."],
  "57P03": ["the server is starting or stopping", "Try again in a moment."],
};

/** Why the driver could not open a database, in words that a user can act on, and the driver's own behind them. */
export function reasonOfDriver(
  error: unknown,
  aboutPasswords: string,
): [words: string, hint?: string | undefined] {
  const { code = "", message = "", path, syscall } = Object(error) as Record<string, string | undefined>;
  if (message.startsWith("SASL: ") && message.includes("client password"))
    return ["it asks for a password, and there is none", aboutPasswords];
  const said = message === "" ? "" : ` (the driver: ${JSON.stringify(message)})`;
  if (code === "ENOENT" && syscall === "connect")
    return [`no server has a socket there${said}`, "Is PostgreSQL running, with its socket in that folder?"];
  if (path !== undefined) return [`${path}, which its URL names, cannot be read: ${reasonOf(error)}`];
  if (/timeout/.test(message)) return [`it did not answer in time${said}`, ELSEWHERE];
  const [words, hint] = (Object.hasOwn(DRIVER_REASONS, code) && DRIVER_REASONS[code]) || []; // a server may send any code
  return words === undefined
    ? [message === "" ? "no connection could be made" : `the driver says ${JSON.stringify(message)}`]
    : [`${words}${said}`, code === "28P01" ? aboutPasswords : hint];
}
