// Writes the public key set into a folder for a static host (Netlify, Cloudflare Pages or any other that reads
// `_headers`), with the headers to serve it with. A job runs it every few minutes and uploads the folder: a rotation
// is then published in time, and the private keys stay where the job runs.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createKeySet, exportKeySet } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";

const store = openKeyStore(process.env.KEY_STORE ?? "keys");
const folder = process.env.PUBLIC_FOLDER ?? "public";

if ((await store.load()).length === 0) await store.generate({ alg: "ES256" });
await store.rotateDue(30 * 24 * 60 * 60 * 1000);

const { path, document, headers, hosts } = await exportKeySet(createKeySet(store));
await mkdir(join(folder, dirname(path)), { recursive: true });
await writeFile(join(folder, path), document);
await writeFile(join(folder, "_headers"), hosts["headers-file"]);
console.log(path, headers["Cache-Control"]);
