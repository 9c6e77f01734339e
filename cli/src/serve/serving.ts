import type { Args, Flag } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readTextFile, requirePrivate } from "../files.js";

/** The flags of every command that serves. */
export const SERVING_FLAGS = {
  "tls-cert": { type: "string", value: "<file>", describe: "certificate in PEM, for HTTPS" },
  "tls-key": { type: "string", value: "<file>", describe: "the certificate's private key in PEM" },
} as const satisfies Record<string, Flag>;

/** Where to listen, from the flags. */
export async function servingOptions(
  args: Args,
): Promise<{ port: number; tls?: { cert: string; key: string } }> {
  const port = args.number("port") ?? 0;
  if (port > 65_535) throw usageError("--port must be at most 65535.");
  const [cert, key] = [args.text("tls-cert"), args.text("tls-key")];
  if ((cert === undefined) !== (key === undefined)) throw usageError("--tls-cert and --tls-key go together.");
  if (key !== undefined) requirePrivate(key);
  return cert !== undefined && key !== undefined
    ? { port, tls: { cert: await readTextFile(cert), key: await readTextFile(key) } }
    : { port };
}

/** Starts a server; a port that cannot be used becomes a failure with a hint. */
export async function started<Server>(
  start: () => Promise<Server>,
  port: number,
  flag = "--port",
): Promise<Server> {
  try {
    return await start();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new CliError(EXIT.unexpected, "PORT_IN_USE", `Port ${port} is in use.`, {
        hint: `Choose another with ${flag}, or 0 for a free one.`,
      });
    if (code === "EACCES")
      throw new CliError(EXIT.unexpected, "PORT_REFUSED", `Port ${port} may not be used by this user.`, {
        hint: `Choose one above 1023 with ${flag}.`,
      });
    throw error;
  }
}
