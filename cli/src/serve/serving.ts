// Where a local server listens, and what it says when it is open to others.
import type { Context, Flag } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readTextFile, requirePrivate } from "../files/files.js";
import { countOf } from "../output.js";

/** The address to listen on. */
export const HOST_FLAG = {
  host: {
    type: "string",
    value: "<address>",
    describe: "the address to listen on, such as 0.0.0.0 in a container; 127.0.0.1 by default",
  },
} as const satisfies Record<string, Flag>;

/** The flags of every command that serves. */
export const SERVING_FLAGS = {
  ...HOST_FLAG,
  "tls-cert": { type: "string", value: "<file>", describe: "certificate in PEM, for HTTPS" },
  "tls-key": { type: "string", value: "<file>", describe: "the certificate's private key in PEM" },
  "tls-self-signed": {
    type: "boolean",
    describe: "HTTPS with a certificate for localhost, which the other commands trust",
  },
} as const satisfies Record<string, Flag>;

/** Where to listen, from the flags. */
export async function servingOptions({ args, io }: Pick<Context, "args" | "io">): Promise<{
  port: number;
  host: string | undefined;
  tls?: { cert: string; key: string };
}> {
  const host = args.text("host");
  const port = args.number("port") ?? 0;
  if (port > 65_535) throw usageError("--port must be at most 65535.");
  const [cert, key] = [args.text("tls-cert"), args.text("tls-key")];
  if ((cert === undefined) !== (key === undefined)) throw usageError("--tls-cert and --tls-key go together.");
  if (args.flag("tls-self-signed")) {
    if (cert !== undefined) throw usageError("--tls-self-signed and --tls-cert exclude each other.");
    return { port, host, tls: await (await import("./local-authority.js")).localCertificate(io) };
  }
  if (key !== undefined) requirePrivate(key);
  return cert !== undefined && key !== undefined
    ? {
        port,
        host,
        tls: await (await import("./certificate-pair.js")).checkedPair(
          { cert: await readTextFile(cert), key: await readTextFile(key) },
          {
            cert: "--tls-cert",
            key: "--tls-key",
            hint: "--tls-self-signed makes a certificate for this machine.",
          },
        ),
      }
    : { port, host };
}

/** Says what `--host` opens, unless it is an address of this machine alone. */
export function warnIfOpen({ args, out }: Pick<Context, "args" | "out">, opened: string): void {
  const host = args.text("host");
  if (host === undefined || host === "localhost" || host === "::1" || host.startsWith("127.")) return;
  out.warn(`Others can reach ${host}: ${opened}`);
}

/** What a server leaves when it ends: how many requests it had, and how they were answered where it knows. */
export function reportServed(
  { out }: Pick<Context, "out">,
  counts: number | ReadonlyMap<number, number>,
  asked = "",
): void {
  const statuses = typeof counts === "number" ? [] : [...counts];
  const requests = typeof counts === "number" ? counts : statuses.reduce((sum, [, count]) => sum + count, 0);
  out.document({
    type: "served",
    ok: true,
    requests,
    ...(typeof counts === "number" ? {} : { statuses: Object.fromEntries(statuses) }),
  });
  const each = statuses.map(([status, count]) => `, ${count} x ${status}`);
  out.note(`${countOf(requests, "request")}${asked}${each.join("")}`);
}

const NO_ADDRESS: ReadonlySet<string | undefined> = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"]);

/** Starts a server; a port that cannot be used becomes a failure with a hint. */
export async function started<Server>(
  start: () => Promise<Server>,
  port: number,
  flag = "--port",
): Promise<Server> {
  try {
    return await start();
  } catch (error) {
    const { code, address, hostname } = error as NodeJS.ErrnoException & Record<string, string | undefined>;
    if (NO_ADDRESS.has(code))
      throw usageError(
        `${flag === "--http" ? flag : "--host"}: this machine has no address ${address ?? hostname}.`,
      );
    if (code === "EADDRINUSE")
      throw new CliError(EXIT.setup, "PORT_IN_USE", `Port ${port} is in use.`, {
        hint: `Choose another with ${flag}, or 0 for a free one.`,
      });
    if (code === "EACCES")
      throw new CliError(EXIT.setup, "PORT_REFUSED", `Port ${port} may not be used by this user.`, {
        hint: `Choose one above 1023 with ${flag}.`,
      });
    throw error;
  }
}
