// Loaded by NODE_OPTIONS=--require: no name is asked of DNS, every one is unknown but this machine's.
const dns = require("node:dns");
const { isIP } = require("node:net");

const { lookup } = dns;
dns.lookup = (name, options, callback) => {
  if (isIP(name) > 0 || name === "localhost") lookup(name, options, callback);
  else callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
};
