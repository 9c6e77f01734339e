// Keeps a process from asking DNS: every name is unknown but this machine's own and those of servers given to the tests. The
// workers of vitest load it (worker.ts), and the commands of transcripts by Node's --require.
const dns = require("node:dns");
const { syncBuiltinESMExports } = require("node:module");
const { isIP } = require("node:net");

const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
const given = [TEST_DATABASE_URL, TEST_REDIS_URL].filter(Boolean).map((url) => new URL(url).hostname);
const isKnown = (name) => !name || isIP(name) > 0 || ["localhost", ...given].includes(name);
const unknown = (name) =>
  Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
    ...{ errno: -3008, code: "ENOTFOUND", syscall: "getaddrinfo", hostname: name },
  });

const { lookup } = dns;
const ask = dns.promises.lookup;
dns.lookup = (name, options, callback) => {
  if (isKnown(name)) return lookup(name, options, callback);
  process.nextTick(typeof options === "function" ? options : callback, unknown(name));
};
dns.promises.lookup = async (name, options) => {
  if (!isKnown(name)) throw unknown(name);
  return ask(name, options);
};
syncBuiltinESMExports();
