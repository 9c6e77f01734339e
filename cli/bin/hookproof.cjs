#!/usr/bin/env node
const { main } = require("../dist/main.cjs");

main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
