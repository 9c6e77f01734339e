// What does installing bring, and what does signing with an HMAC weigh in a browser?
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { tsImport } from "tsx/esm/api";
import { reportFigures } from "./support.mjs";

const { installPackage, packagesIn } = await tsImport(
  "../test/packaging/installed-package.ts",
  import.meta.url,
);
const { browserBundle } = await tsImport("../test/packaging/browser-bundle.ts", import.meta.url);

/** A peer at the version that the benches use, in an empty folder. */
function installPeer(name) {
  const dir = mkdtempSync(join(tmpdir(), "hookproof-bench-"));
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, `node_modules/${name}/package.json`), "utf8"),
  );
  writeFileSync(
    join(dir, "package.json"),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  );
  execFileSync("npm", ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: dir,
    stdio: "pipe",
  });
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

const cases = {
  hookproof: { install: installPackage, source: 'export { signHmac } from "hookproof";' },
  standardwebhooks: { source: 'export { Webhook } from "standardwebhooks";' },
  svix: { source: 'export { Webhook } from "svix";' },
};
const goals = { packages: 3, bytes: 4_095 };
const packages = {};
const bytes = {};
for (const [name, { install = () => installPeer(name), source }] of Object.entries(cases)) {
  const { dir, remove } = await install();
  const { code } = await browserBundle(dir, source);
  const ours = name === "hookproof";
  packages[name] = { value: packagesIn(dir).length - 1, ...(ours && { atMost: goals.packages }) };
  bytes[name] = { value: gzipSync(code, { level: 9 }).length, ...(ours && { atMost: goals.bytes }) };
  remove();
}
reportFigures({ question: "Packages that come with it", unit: "packages", figures: packages });
reportFigures({
  question: "Signing with an HMAC, bundled for a browser",
  unit: "bytes, gzip",
  figures: bytes,
});
