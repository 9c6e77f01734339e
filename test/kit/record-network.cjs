// Loaded by NODE_OPTIONS=--require: notes where a program connects to, and which names it looks up, one line each.
const { appendFileSync } = require("node:fs");
const dgram = require("node:dgram");
const dns = require("node:dns");
const net = require("node:net");

const note = (what, where) => appendFileSync(process.env.NETWORK_LOG, `${what} ${where}\n`);

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function noted(...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const options = typeof first === "object" ? first : { port: first, host: second };
  note("connect", options.path ?? options.host ?? "localhost");
  return connect.apply(this, args);
};
for (const holder of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of Object.getOwnPropertyNames(holder)) {
    const original = holder[name];
    if (!/^(?:lookup|resolve|reverse)/.test(name) || typeof original !== "function") continue;
    holder[name] = function noted(...args) {
      note(name, args[0]);
      return original.apply(this, args);
    };
  }
const { send } = dgram.Socket.prototype;
dgram.Socket.prototype.send = function noted(...args) {
  note("send", args.find((value) => typeof value === "string" && !/\n/.test(value)) ?? "localhost");
  return send.apply(this, args);
};
