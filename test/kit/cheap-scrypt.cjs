// In the workers of vitest a client secret of the service costs a sixteenth of what it costs elsewhere: each start of a
// service makes one, and at the real cost that took 28 of 204 s of processor time of the tests.
const crypto = require("node:crypto");
const { syncBuiltinESMExports } = require("node:module");

const { scrypt } = crypto;
let isReal = false;

crypto.scrypt = (password, salt, length, options, callback) =>
  scrypt(password, salt, length, isReal ? options : { ...options, N: options.N / 16 }, callback);
syncBuiltinESMExports();

/** Whether it costs what it costs users from now on. */
module.exports = (real) => {
  isReal = real;
};
