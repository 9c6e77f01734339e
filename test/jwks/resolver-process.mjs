// A resolver in a process of its own: it trusts the test's CA by NODE_EXTRA_CA_CERTS, which Node reads at its
// start only, and its memory is nobody else's.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { remoteKeys } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { heldMemory } from "../kit/held-memory.mjs";

/** No name is asked of DNS: this one leads to loopback, and no other anywhere. */
const INSIDE = "inside.example.com";
let lookups = 0;
dns.lookup = (name, _options, callback) => {
  lookups++;
  if (name === INSIDE) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(new Error(`${name} is not to be looked up`), []);
};
syncBuiltinESMExports();

const clock = fixedClock("2026-01-01T00:00:00Z");
const resolvers = new Map();

const commands = {
  open({ name, url, options }) {
    try {
      resolvers.set(name, remoteKeys(url, { ...options, clock }));
      return { ok: true };
    } catch (error) {
      return { ok: false, code: error.code ?? error.name };
    }
  },
  async resolve({ name, kid, alg = "ES256", times = 1, atOnce = 1 }) {
    const resolver = resolvers.get(name);
    const counts = {};
    let last;
    for (let n = 0; n < times; n += atOnce) {
      const wanted = Array.from({ length: atOnce }, (_, i) => (kid === "random" ? `random-${n + i}` : kid));
      const found = await Promise.all(wanted.map((one) => resolver.resolve(one, alg)));
      for (const one of found) {
        last = one;
        const outcome = one.ok ? "ok" : one.code;
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
    }
    return { ok: last.ok, code: last.code, detail: last.detail, counts };
  },
  advance({ ms }) {
    clock.advance(ms);
    return {};
  },
  lookups: () => lookups,
  memory: () => heldMemory(),
};

process.on("unhandledRejection", (error) => {
  process.send({ id: "unhandled", error: String(error) });
});
process.on("message", async ({ id, command, ...args }) => {
  process.send({ id, result: await commands[command](args) });
});
process.send({ id: "ready" });
