import { randomInt } from "node:crypto";
import { generateKey } from "hookproof/jwks";
import { nodeTransport } from "hookproof/node";
import { DEFAULT_CLIENT, exampleRoutes, resetDatabase } from "hookproof-service";
import { confirm } from "../ask.js";
import type { Command, Context } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { startProgress } from "../progress.js";
import { agentFor } from "../send/agent.js";
import { askControl, BASE_URL_FLAG, baseUrlOf, CONTROL_FLAGS } from "../serve/control-client.js";
import {
  bucketOf,
  clientSecretFile,
  DATABASE_FLAG,
  databaseFile,
  fillDatabase,
  KEY_SETS_FLAG,
  onDatabase,
  readClientSecret,
  SEED_FLAGS,
  sourceOf,
} from "../serve/service-database.js";

export const serviceSeed: Command = {
  name: "service seed",
  details: "The data is made up, of any size, or comes from a fixture.",
  flags: {
    ...DATABASE_FLAG,
    ...SEED_FLAGS,
    ...KEY_SETS_FLAG,
    replace: { type: "boolean", describe: "replace the data of a database that has some" },
  },
  examples: [
    [
      "hookproof service seed --seed 42 --users 1000000 --db large.db",
      "the same ids, names and times every time",
    ],
    ["hookproof service seed --seed team.yaml --replace", "users and secrets of your own"],
  ],
  exits: [[3, "the database cannot be used, or already has data"]],
  async run(context) {
    const { args, io, out } = context;
    const source = await sourceOf(args);
    const db = databaseFile(io, args);
    const users = await fillDatabase(context, {
      ...source,
      db,
      replace: args.flag("replace"),
      allowInsecure: args.flag("allow-insecure-jwks"),
    });
    out.document({ type: "seed", ok: true, db, users });
    out.line(db);
    out.note(`${users} users; next: hookproof service start${args.isGiven("db") ? ` --db ${db}` : ""}`);
    return EXIT.ok;
  },
};

export const serviceReset: Command = {
  name: "service reset",
  details: "The service may be running.",
  flags: {
    ...DATABASE_FLAG,
    ...KEY_SETS_FLAG,
    yes: { type: "boolean", alias: "y", describe: "do not ask; changes since then are lost" },
    all: { type: "boolean", describe: "faults, clock and journal of the running service too" },
    "base-url": BASE_URL_FLAG["base-url"],
    "control-token-file": CONTROL_FLAGS["control-token-file"],
  },
  examples: [
    ["hookproof service reset --yes", "between two runs of a test"],
    ["hookproof service reset --yes --all", "the running service as it was at its start"],
    ["hookproof service reset --db team.db", "asks first"],
  ],
  exits: [
    [3, "there is no such database, or it cannot be used"],
    [4, "with --all: the service refused the request"],
    [6, "with --all: the service does not answer"],
    [130, "not confirmed"],
  ],
  async run(context) {
    const { args, io, out, global } = context;
    const db = databaseFile(io, args);
    await confirm(context, `Reset ${db}?`, "A reset loses every change since the database was filled.");
    if (args.flag("all")) {
      await askControl(context, "POST", "reset");
      out.document({ type: "reset", ok: true, db });
      out.line(db);
      return EXIT.ok;
    }
    const progress = startProgress(io, global.quiet, undefined);
    const options = { db, s3: bucketOf(io), allowInsecure: args.flag("allow-insecure-jwks") };
    await onDatabase(() => resetDatabase(options)).finally(() => progress.finish());
    out.document({ type: "reset", ok: true, db });
    out.line(db);
    return EXIT.ok;
  },
};

export const serviceRoutes: Command = {
  name: "service routes",
  details: "The ids in the URLs come from the service's database.",
  flags: {
    ...DATABASE_FLAG,
    ...BASE_URL_FLAG,
  },
  examples: [
    ["hookproof service routes", "the user's own database, on port 4420"],
    ["hookproof service routes --json | jq -r 'select(.section == \"4.3\").url'", "the URL of one operation"],
  ],
  exits: [[3, "there is no such database, or it cannot be used"]],
  async run({ args, io, out }) {
    const db = databaseFile(io, args);
    const baseUrl = baseUrlOf({ args });
    const routes = await onDatabase(() => exampleRoutes({ db, baseUrl }));
    for (const { section, operation, method, url, exampleBody } of routes) {
      out.document({ type: "route", section, operation, method, url, exampleBody });
      out.line(`${section.padEnd(4)}  ${method.padEnd(6)}  ${url}`);
      if (exampleBody !== undefined) out.line(`${" ".repeat(14)}${JSON.stringify(exampleBody)}`);
    }
    out.note('next: curl -H "Authorization: Bearer $(hookproof service token)" <url>');
    out.note("webhooks (4.10) are signed instead: hookproof send <url>");
    return EXIT.ok;
  },
};

export const serviceToken: Command = {
  name: "service token",
  details: "It asks as any OAuth client does. The token is valid for an hour by default.",
  flags: {
    ...DATABASE_FLAG,
    ...BASE_URL_FLAG,
    "client-id": { type: "string", value: "<id>", default: DEFAULT_CLIENT, describe: "the client" },
    "client-secret-file": {
      type: "string",
      value: "<file>",
      describe: "its secret; the one beside the database by default",
      completes: "file",
    },
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
      describe: "with --sdk: the control token; the one beside the database by default",
      completes: "file",
    },
  },
  examples: [
    ['curl -H "Authorization: Bearer $(hookproof service token)" <url>', "call an operation"],
    ["hookproof service token --client-id ci --client-secret-file ci.secret", "as a client of a fixture"],
    ["hookproof service token --sdk > client.env", "CLIENT_ID and CLIENT_SECRET of a Super Admin"],
  ],
  exits: [
    [3, "the client secret cannot be read"],
    [4, "the service refused the client"],
    [6, "the service does not answer"],
  ],
  async run(context) {
    const { args, io, out, global } = context;
    if (args.flag("sdk")) return printSdkCredentials(context);
    if (args.isGiven("issuer")) throw usageError("--issuer belongs to --sdk.");
    const secret = await readClientSecret(
      args.text("client-secret-file") ?? clientSecretFile(databaseFile(io, args)),
    );
    const url = `${baseUrlOf({ args })}/auth/v1/token`;
    const answer = await askedFor(url, args.text("client-id") ?? DEFAULT_CLIENT, secret, global.timeoutMs);
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

/**
 * Makes a client with a key, and prints its id and its secret in the form that published clients take: the id is
 * `name@host/pcc`, and the secret `secret-token:<issuer>:v1:<a private JWK in base64>`, which assertions are signed with.
 */
async function printSdkCredentials(context: Context): Promise<number> {
  const { args, out } = context;
  const baseUrl = baseUrlOf(context);
  const { host, hostname } = new URL(baseUrl);
  const issuer = args.text("issuer") ?? hostname;
  if (!/^[A-Za-z0-9._-]{1,253}$/.test(issuer))
    throw usageError(`--issuer must be a host's name, not ${JSON.stringify(issuer)}.`);
  const { privateJwk, publicJwk } = await generateKey({ alg: "EdDSA" });
  const clientId = `sdk-${randomInt(10_000, 100_000)}@${host}/pcc`;
  await askControl(context, "POST", "clients", { id: clientId, publicJwk, role: "super-admin" });
  const jwk = JSON.stringify(privateJwk);
  // Every kind of base64 writes a length that 3 divides in the same way, without padding.
  const encoded = Buffer.from(jwk.padEnd(Math.ceil(jwk.length / 3) * 3)).toString("base64");
  const clientSecret = `secret-token:${issuer}:v1:${encoded}`;
  out.document({ type: "credentials", ok: true, baseUrl, clientId, clientSecret });
  out.line(`CLIENT_ID=${clientId}`);
  out.line(`CLIENT_SECRET=${clientSecret}`);
  return EXIT.ok;
}

interface TokenAnswer {
  readonly access_token?: unknown;
  readonly expires_in?: unknown;
  readonly error_description?: unknown;
}

async function askedFor(
  url: string,
  clientId: string,
  secret: string,
  timeoutMs: number,
): Promise<TokenAnswer> {
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: secret };
  try {
    const send = nodeTransport({ agent: await agentFor(url, { ca: undefined, insecure: false }) });
    const { body } = await send({
      method: "POST",
      url,
      headers: [["Content-Type", "application/x-www-form-urlencoded"]],
      body: Buffer.from(new URLSearchParams(form).toString()),
      timeoutMs,
      maxResponseBytes: 65_536,
    });
    return JSON.parse(Buffer.from(body).toString("utf8")) as TokenAnswer;
  } catch {
    throw new CliError(EXIT.unreachable, "CONNECTION_FAILED", `${url} does not answer as the service.`, {
      hint: "hookproof service start runs one.",
    });
  }
}
