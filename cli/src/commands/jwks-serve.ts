import { createKeySet, jwksHandler } from "hookproof/jwks";
import { openKeyStore, toNodeHandler } from "hookproof/node";
import { startServer } from "hookproof-service";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { storeFolder } from "../keys.js";
import { SERVING_FLAGS, servingOptions, started, stopped } from "../serving.js";

export const jwksServe: Command = {
  name: "jwks serve",
  describe: "Hosts the key set of a store over HTTP or HTTPS, on loopback. An empty store gets an ES256 key.",
  flags: {
    port: { type: "number", value: "<n>", default: 4410, describe: "0 takes a free port" },
    path: {
      type: "string",
      value: "<path>",
      default: "/.well-known/jwks.json",
      describe: "where the key set stands",
    },
    store: { type: "string", value: "<dir>", describe: "the key store; the user's own by default" },
    "cache-max-age": {
      type: "number",
      value: "<seconds>",
      default: 300,
      describe: "how long receivers may keep the set",
    },
    ...SERVING_FLAGS,
  },
  examples: [
    ["hookproof jwks serve", "the user's own keys on port 4410"],
    ["hookproof jwks serve --store ./keys --port 0 --json", "another store on a free port, for a script"],
  ],
  exits: [[3, "the store cannot be used"]],
  async run({ args, io, out }) {
    const path = args.text("path") ?? "";
    if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#]/.test(path))
      throw usageError("--path must start with / and have no query.");
    const store = openKeyStore(storeFolder(io, args.text("store")));
    if ((await store.load()).length === 0) {
      const { kid } = await store.generate({ alg: "ES256" });
      out.note(`The store was empty; generated the key ${kid} (ES256).`);
    }
    const options = await servingOptions(args);
    const serveKeys = jwksHandler(createKeySet(store), { maxAgeSeconds: args.number("cache-max-age") });
    let asked = 0;
    const handler = toNodeHandler(async (request) => {
      if (new URL(request.url).pathname !== path) return new Response(null, { status: 404 });
      asked++;
      return serveKeys(request);
    });
    const server = await started(() => startServer(handler, options), options.port);
    const url = `${server.url}${path}`;
    out.document({ type: "listening", url });
    out.line(url);
    await stopped(io.stopSignal);
    await server.stop();
    out.note(`${asked} requests for the key set`);
    return EXIT.ok;
  },
};
