import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What a run of Node has loaded. */
export interface Loaded {
  /** The paths of files. */
  readonly files: readonly string[];
  /** Modules of Node that were imported by name, such as `node:crypto`; what CommonJS requires is not among them. */
  readonly imported: readonly string[];
  /** Every module of Node, those that Node itself needs too, such as `https` and `_tls_wrap`. */
  readonly ofNode: readonly string[];
}

// Modules are told by a hook of Node's loader, the rest at the end.
const HOOK = `export async function load(url, context, next) {
  process._rawDebug("loads " + url);
  return next(url, context);
}`;
const REGISTER = `import Module, { register } from "node:module";
register(${JSON.stringify(dataUrl(HOOK))});
process.on("exit", () => {
  for (const file of Object.keys(Module._cache)) process._rawDebug("requires " + file);
  for (const entry of process.moduleLoadList) process._rawDebug(entry.replace("NativeModule", "has"));
});`;

/** Runs Node with these words and says what it loaded; throws if the run fails. */
export function loadedBy(
  words: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Loaded {
  const run = ["--import", dataUrl(REGISTER), ...words];
  const { status, stderr } = spawnSync(process.execPath, run, { encoding: "utf8", cwd, env });
  if (status !== 0) throw new Error(`exit code ${status}: ${stderr}`);
  const said = (verb: string) =>
    [...stderr.matchAll(new RegExp(`^${verb} (.+)$`, "gm"))].map(([, name = ""]) => name);
  const urls = said("loads");
  const files = urls.filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url));
  return {
    files: [...new Set([...files, ...said("requires")])],
    imported: urls.filter((url) => url.startsWith("node:")),
    ofNode: said("has"),
  };
}

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
