// What to do about a connection that failed.

/**
 * What to do about a connection that failed, by the host and reason in the library's message, and by OpenSSL's words for
 * what Node gives one code; undefined if unknown.
 */
export function connectionHint(code: string, message: string, cause?: unknown): string | undefined {
  const [, host = "", reason = ""] = /: (\S+) \(([A-Za-z0-9_]+)\)/.exec(message) ?? [];
  const port = /^(?:localhost|127\.0\.0\.1|\[::1\]):([0-9]+)$/.exec(host)?.[1];
  if (reason === "ECONNREFUSED")
    return port === undefined
      ? "Nothing listens on that port of the host: compare the URL with the listener's."
      : `Is a listener running? Start one with: hookproof listen --port ${port}`;
  if (reason === "ENOTFOUND" || reason === "EAI_AGAIN")
    return "The name of the host is not known: look for a typing mistake, or a network that is down.";
  const [, header] = HEADER_SECTION.find(([form]) => form.test(reason)) ?? [];
  if (header !== undefined) return `HTTP answers there, and ${header}.`;
  if (reason === "ECONNRESET" || code === "RESPONSE_INVALID")
    return "Something else than HTTP/1.1 may answer there: if it expects TLS, use https://; one that speaks HTTP/2 alone needs a proxy in front. Over https:// it may want another client certificate.";
  if (code !== "TLS_FAILED") return undefined;
  if (/ALERT_(?:CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN)$/.test(reason))
    return "The listener wants a client certificate that it knows: give it with --cert <file> and --key-file <file>.";
  const words = `${reason} ${wordsOf(cause)}`;
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|protocol version|unsupported protocol/.test(words))
    return "The listener speaks an older version of TLS than this machine takes: it needs 1.2 or later.";
  if (/HANDSHAKE_FAILURE|handshake failure|NO_SHARED_CIPHER/.test(words))
    return "The listener ended the handshake of TLS: it may want a client certificate (--cert <file> and --key-file <file>), or share no cipher with this machine.";
  if (reason === "EPROTO" || /^ERR_SSL/.test(reason))
    return port === undefined
      ? "That port does not answer with TLS: compare the URL with the listener's."
      : "That port does not answer with TLS: use http:// for a listener without a certificate.";
  if (reason === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "The certificate is for another name: use the name that it has.";
  if (reason === "CERT_HAS_EXPIRED") return "The certificate has expired: the listener needs a new one.";
  return `The certificate is not trusted: name it, or its authority, with --ca <file>${port === undefined ? "." : ", or use --insecure."}`;
}

/** What Node's parser and undici call a header section that no client has to read (RFC 9112), in words. */
const HEADER_SECTION: readonly (readonly [form: RegExp, words: string])[] = [
  [/HEADERS?_OVERFLOW$/, "its header lines have more than 16 KiB: look which one grows, such as a cookie"],
  [/^HPE_(?:CR|LF)_EXPECTED$/, "its header lines end with a line feed alone, where HTTP has CR and LF"],
  [
    /CONTENT_LENGTH|TRANSFER_ENCODING/,
    "its Content-Length stands twice, is no number, or stands next to Transfer-Encoding",
  ],
  [
    /^HPE_INVALID_HEADER_TOKEN$/,
    "one of its header lines has no colon, a blank before it, a control character, or goes on in the next line",
  ],
];

/** The messages of an error and of what caused it: a failed delivery holds OpenSSL's own two causes deep. */
function wordsOf(error: unknown, depth = 0): string {
  const { message = "", cause } = Object(error) as { message?: unknown; cause?: unknown };
  return cause === undefined || depth > 4 ? `${message}` : `${message} ${wordsOf(cause, depth + 1)}`;
}
