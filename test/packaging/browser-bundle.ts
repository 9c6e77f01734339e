import { build } from "esbuild";

/** What a browser bundle of a module consists of, minified; its imports are resolved from `dir`. */
export async function browserBundle(
  dir: string,
  source: string,
): Promise<{ code: string; inputs: string[] }> {
  const result = await build({
    stdin: { contents: source, resolveDir: dir },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
    absWorkingDir: dir,
  });
  const [output] = Object.values(result.metafile.outputs);
  const inputs = Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([name]) => name);
  return { code: result.outputFiles[0]?.text ?? "", inputs };
}
