// The command that gets an access token of the local service.
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { generateKey } from "hookproof/jwks";
import type { Args, Command, Context } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import {
  askControl,
  BASE_URL_FLAG,
  exchanged,
  SERVICE_CONNECTION_FLAGS,
  serviceUrl,
} from "../serve/control-client.js";
import {
  clientSecretFile,
  DATABASE_FLAG,
  DEFAULT_CLIENT,
  databaseFile,
  readClientSecret,
  readOwnSecret,
} from "../serve/service-database.js";

export const serviceToken: Command = {
  name: "service token",
  details: "It asks as any OAuth client does. The token is valid for an hour by default.",
  flags: {
    ...DATABASE_FLAG,
    ...BASE_URL_FLAG,
    ...SERVICE_CONNECTION_FLAGS,
    "client-id": { type: "string", value: "<id>", default: DEFAULT_CLIENT, describe: "the client" },
    "client-secret-file": {
      type: "string",
      value: "<file>",
      describe: "its secret; the one next to the database by default",
      completes: "file",
    },
    role: {
      type: "string",
      choices: ["super-admin", "member"],
      describe: "as a new client with this role",
    },
    "as-user": { type: "string", value: "<id>", describe: "with --role or --sdk: the user it acts as" },
    sdk: {
      type: "boolean",
      describe: "credentials of a new client, in the form that published clients take",
    },
    issuer: {
      type: "string",
      value: "<name>",
      describe: "with --sdk: the issuer in the secret; the service's host",
    },
    "control-token-file": {
      type: "string",
      value: "<file>",
      describe: "for a new client: the control token; the one next to the database by default",
      completes: "file",
    },
  },
  examples: [
    ['curl -H "Authorization: Bearer $(hookproof service token)" <url>', "call an operation"],
    ["hookproof service token --client-id ci --client-secret-file ci.secret", "as a client of a fixture"],
    ["hookproof service token --role member", "to see what others are refused"],
    ["hookproof service token --sdk > client.env", "CLIENT_ID and CLIENT_SECRET of a Super Admin"],
  ],
  exits: [
    [3, "the client secret cannot be read"],
    [4, "the service refused the client"],
    [6, "the service does not answer"],
  ],
  async run(context) {
    const { args, out } = context;
    if (args.flag("sdk")) return printSdkCredentials(context);
    if (args.isGiven("issuer")) throw usageError("--issuer belongs to --sdk.");
    const url = `${await serviceUrl(context)}/auth/v1/token`;
    const { id, secret } = await clientOf(context);
    const form = { grant_type: "client_credentials", client_id: id, client_secret: secret };
    const { answer } = await exchanged(context, {
      method: "POST",
      url,
      headers: [["Content-Type", "application/x-www-form-urlencoded"]],
      body: new URLSearchParams(form).toString(),
    });
    const token = answer.access_token;
    if (typeof token !== "string")
      throw new CliError(
        EXIT.refused,
        "TOKEN_REFUSED",
        `No token: ${answer.error_description ?? "no reason given"}`,
        {
          hint: "The secret belongs to another database, or the service was started with another --db.",
        },
      );
    out.document({ type: "token", ok: true, accessToken: token, expiresIn: answer.expires_in });
    out.line(token);
    return EXIT.ok;
  },
};

/** The client that asks: a new one for a role, or the one that the flags name. */
async function clientOf(context: Context): Promise<{ id: string; secret: string }> {
  const { args } = context;
  const isNamed = args.isGiven("client-id") || args.isGiven("client-secret-file");
  if (!args.isGiven("role")) {
    if (args.isGiven("as-user")) throw usageError("--as-user belongs to --role or --sdk.");
    const file = args.text("client-secret-file");
    const secret = file === undefined ? ownSecretOf(context) : await readClientSecret(file);
    return { id: args.text("client-id") ?? DEFAULT_CLIENT, secret };
  }
  if (isNamed) throw usageError("--role makes a new client; it takes no --client-id and no secret.");
  const client = { id: `cli-${randomUUID()}`, secret: randomBytes(32).toString("base64url") };
  await askControl(context, "POST", "clients", { ...client, ...rightsOf(args) });
  return client;
}

/** The secret of the client that a service of this machine was started with. */
function ownSecretOf({ io, args }: Context): string {
  const file = clientSecretFile(databaseFile(io, args));
  if (existsSync(file)) return readOwnSecret(file);
  throw new CliError(EXIT.setup, "FILE_UNREADABLE", `No service has run here yet: there is no ${file}.`, {
    hint: "hookproof service start runs one; --db names the database of another.",
  });
}

/** What a new client may do. */
function rightsOf(args: Args): { role: string; userId?: string } {
  const userId = args.text("as-user");
  return { role: args.text("role") ?? "super-admin", ...(userId === undefined ? {} : { userId }) };
}

/**
 * Makes a client with a key, and prints its id and its secret in the form that published clients take: the id is
 * `name@host/pcc`, and the secret `secret-token:<issuer>:v1:<a private JWK in base64>`, which assertions are signed with.
 */
async function printSdkCredentials(context: Context): Promise<number> {
  const { args, out } = context;
  const baseUrl = await serviceUrl(context);
  const { host, hostname } = new URL(baseUrl);
  const issuer = args.text("issuer") ?? hostname;
  if (!/^[A-Za-z0-9._-]{1,253}$/.test(issuer))
    throw usageError(`--issuer must be a host's name, not ${JSON.stringify(issuer)}.`);
  const { privateJwk, publicJwk } = await generateKey({ alg: "EdDSA" });
  const clientId = `sdk-${randomInt(10_000, 100_000)}@${host}/pcc`;
  await askControl(context, "POST", "clients", { id: clientId, publicJwk, ...rightsOf(args) });
  const jwk = JSON.stringify(privateJwk);
  // Every kind of base64 writes a length that 3 divides in the same way, without padding.
  const encoded = Buffer.from(jwk.padEnd(Math.ceil(jwk.length / 3) * 3)).toString("base64");
  const clientSecret = `secret-token:${issuer}:v1:${encoded}`;
  out.document({ type: "credentials", ok: true, baseUrl, clientId, clientSecret });
  out.line(`CLIENT_ID=${clientId}`);
  out.line(`CLIENT_SECRET=${clientSecret}`);
  return EXIT.ok;
}
