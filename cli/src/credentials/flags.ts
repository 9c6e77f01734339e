// The flags that commands share which sign or connect.
import type { Flag } from "../command.js";

/** The flags of every command that signs. */
export const CREDENTIAL_FLAGS = {
  method: {
    type: "string",
    choices: ["hmac", "jwt"],
    describe: "how to authenticate the request; jwt if --key is given",
  },
  "secret-file": {
    type: "string",
    value: "<path|->",
    repeatable: true,
    describe: "the signing secret; twice (new, old) during a rotation",
    completes: "file",
  },
  key: {
    type: "string",
    value: "<kid|file>",
    describe: "a key of the store, or a file with a private key (PEM or JWK)",
    completes: "kid",
  },
  store: {
    type: "string",
    value: "<dir>",
    describe: "the key store; the user's own by default",
    completes: "file",
  },
  "base-url": { type: "string", value: "<url>", describe: "the tenant's base URL, the claim sub" },
} as const satisfies Record<string, Flag>;

/** The flag of every command that signs for a listener. */
export const ORIGIN_FLAGS = {
  "allow-origin": {
    type: "string",
    value: "<url>",
    repeatable: true,
    describe: "sign for this scheme, host and port too, though the secret belongs to another",
  },
} as const satisfies Record<string, Flag>;

/** The flags of every command that signs for a target. */
export const SIGNING_FLAGS = {
  ...CREDENTIAL_FLAGS,
  kid: {
    type: "string",
    value: "<id>",
    describe: "with --key <file>: the key's id in your key set, as a PEM has none",
  },
  ...ORIGIN_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of every command that connects. */
export const CONNECTION_FLAGS = {
  ca: { type: "string", value: "<file>", describe: "a CA certificate in PEM to trust", completes: "file" },
  insecure: { type: "boolean", describe: "do not check the certificate; loopback only" },
} as const satisfies Record<string, Flag>;

/** What opens plain HTTP, where a command refuses it. */
export const PLAIN_HTTP_HINT =
  "Use https://; in development --plain-http <host> allows http:// to a name that no public DNS has.";

/** The flag of commands that send a credential to another server than a listener, or no event. */
export const PLAIN_HTTP_FLAG = {
  "plain-http": {
    type: "string",
    value: "<host>",
    repeatable: true,
    describe:
      "in development: allow http:// to this name of a container, or *.localhost; anyone on the way can read the credential",
  },
} as const satisfies Record<string, Flag>;

/** The flags of every command that sends to a listener, next to those of the connection. */
export const REACH_FLAGS = {
  header: {
    type: "string",
    value: "<name: value|@file>",
    repeatable: true,
    describe:
      "a header to send along; 'Name: @file' takes the value from a file, @file whole lines; values are never shown",
    completes: "file",
  },
  "plain-http": {
    type: "string",
    value: "<host>",
    repeatable: true,
    describe:
      "in development: allow http:// to this name of a container, or *.localhost; anyone on the way can read events",
  },
  cert: {
    type: "string",
    value: "<file>",
    describe: "a client certificate in PEM, for a listener that asks for one",
    completes: "file",
  },
  "key-file": {
    type: "string",
    value: "<file>",
    describe: "the private key of --cert in PEM, unless its file has it",
    completes: "file",
  },
  "key-passphrase-file": {
    type: "string",
    value: "<file>",
    describe: "a file with the passphrase of --key-file",
    completes: "file",
  },
} as const satisfies Record<string, Flag>;

export const TARGET_POSITIONAL = {
  name: "target",
  required: false,
  describe: "a listener's URL, :4400 for the local listener on that port, or a profile",
  completes: "target",
} as const;
