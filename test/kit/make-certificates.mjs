// Prints a certificate authority and what it has signed, as JSON: certificates() of certificates.ts calls it, as
// tests want them at once and the package makes them later.
import selfsigned from "selfsigned";

const notAfterDate = new Date(Date.now() + 2 * 86_400_000 - 1_000); // doctor warns of what is left of it
const kind = { keyType: "ec", curve: "P-256", algorithm: "sha256", notAfterDate };
const named = (value) => [{ name: "commonName", value }];
const [dns, ip] = [(value) => ({ type: 2, value }), (address) => ({ type: 7, ip: address })];
const pair = ({ cert, private: key }) => ({ cert, key });

const ca = await selfsigned.generate(named("Test CA"), {
  ...kind,
  extensions: [
    { name: "basicConstraints", cA: true, critical: true },
    { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
  ],
});
const signed = (name, ...extensions) =>
  selfsigned.generate(named(name), { ...kind, ca: { key: ca.private, cert: ca.cert }, extensions });
const altNames = [dns("localhost"), dns("tenant.example.com"), ip("127.0.0.1")];
const server = await signed("server", { name: "subjectAltName", altNames });
const client = await signed("client", { name: "extKeyUsage", clientAuth: true });
const alone = await selfsigned.generate(named("127.0.0.1"), {
  ...kind,
  extensions: [
    { name: "basicConstraints", cA: true },
    { name: "subjectAltName", altNames: [ip("127.0.0.1")] },
  ],
});
console.log(JSON.stringify({ ca: ca.cert, server: pair(server), client: pair(client), alone: pair(alone) }));
