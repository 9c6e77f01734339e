// Looks whether a certificate and a private key can serve, before a server starts with them.
import { createSecureContext } from "node:tls";
import { CliError, EXIT } from "../failure.js";

/** A certificate and its key for `--tls-cert` and `--tls-key`. OpenSSL's own words name neither option nor file. */
export function checkedPair(cert: string, key: string): { cert: string; key: string } {
  const isTaken = (options: { cert: string; key?: string }) => {
    try {
      return createSecureContext(options) !== undefined;
    } catch {
      return false;
    }
  };
  if (!isTaken({ cert })) throw notPem("--tls-cert is no certificate in PEM.");
  if (!isTaken({ cert, key })) throw notPem("--tls-key is no private key in PEM, or not that of --tls-cert.");
  return { cert, key };
}

function notPem(message: string): CliError {
  return new CliError(EXIT.setup, "CERTIFICATE_INVALID", message, {
    hint: "--tls-self-signed makes a certificate for this machine.",
  });
}
