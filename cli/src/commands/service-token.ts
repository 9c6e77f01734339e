import { nodeTransport } from "hookproof/node";
import { DEFAULT_CLIENT } from "hookproof-service";
import { agentFor } from "../agent.js";
import type { Command } from "../command.js";
import { CliError, EXIT } from "../failure.js";
import { clientSecretFile, DATABASE_FLAG, databaseFile, readClientSecret } from "../service-database.js";

export const serviceToken: Command = {
  name: "service token",
  describe:
    "Gets an access token from the running service, as any OAuth client does, and prints it. It lives 10 minutes.",
  flags: {
    ...DATABASE_FLAG,
    "base-url": {
      type: "string",
      value: "<url>",
      default: "http://127.0.0.1:4420",
      describe: "where the service runs",
    },
    "client-id": { type: "string", value: "<id>", default: DEFAULT_CLIENT, describe: "the client" },
    "client-secret-file": {
      type: "string",
      value: "<file>",
      describe: "its secret; the one beside the database by default",
      completes: "file",
    },
  },
  examples: [
    ['curl -H "Authorization: Bearer $(hookproof service token)" <url>', "call an operation"],
    ["hookproof service token --client-id ci --client-secret-file ci.secret", "as a client of a fixture"],
  ],
  exits: [
    [3, "the client secret cannot be read"],
    [4, "the service refused the client"],
    [6, "the service does not answer"],
  ],
  async run({ args, io, out, global }) {
    const secret = await readClientSecret(
      args.text("client-secret-file") ?? clientSecretFile(databaseFile(io, args)),
    );
    const url = `${(args.text("base-url") ?? "").replace(/(?<!\/)\/+$/, "")}/auth/v1/token`;
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
    throw new CliError(EXIT.unreachable, "CONNECTION_FAILED", `${url} does not answer as a service.`, {
      hint: "hookproof service start runs one.",
    });
  }
}
