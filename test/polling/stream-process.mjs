// Asks for the status of three streams in a process of its own: it trusts the test's CA by NODE_EXTRA_CA_CERTS, and asks no
// DNS: every name leads to loopback.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { securityEventStream } from "hookproof/set/polling";

dns.lookup = (_name, options, callback) => {
  if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};
syncBuiltinESMExports();

const said = [];
for (const path of ["plain", "hidden", "own"]) {
  const stream = securityEventStream({
    issuer: `${process.argv[2]}/${path}`,
    streamId: "one",
    authorization: "Bearer a",
  });
  said.push(
    await stream.status().then(
      ({ status }) => status,
      ({ code }) => code,
    ),
  );
}
process.stdout.write(JSON.stringify(said), () => process.exit());
