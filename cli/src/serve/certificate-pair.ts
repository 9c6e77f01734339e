// Looks whether a certificate and a private key can serve, before a server starts with them.
import { createSecureContext } from "node:tls";
import { CliError, EXIT } from "../failure.js";

/** A certificate with its private key, in PEM. */
interface Pair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  readonly passphrase?: string | undefined;
}

/** A certificate and its key, as the named options give them. OpenSSL's own words name neither option nor file. */
export function checkedPair<Given extends Pair>(
  pair: Given,
  options: { readonly cert: string; readonly key: string; readonly hint?: string },
): Given {
  const isTaken = (given: Partial<Pair>) => {
    try {
      return createSecureContext(given) !== undefined;
    } catch {
      return false;
    }
  };
  if (!isTaken({ cert: pair.cert })) throw notPem(`${options.cert} is no certificate in PEM.`, options.hint);
  if (!isTaken(pair))
    throw notPem(
      `${options.key} is no private key in PEM, not that of ${options.cert}, or not to be opened with this passphrase.`,
      options.hint,
    );
  return pair;
}

function notPem(message: string, hint?: string): CliError {
  return new CliError(EXIT.setup, "CERTIFICATE_INVALID", message, { hint });
}
