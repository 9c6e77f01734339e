import { fixedKeys, type KeyResolver, remoteKeys } from "hookproof/jwks";
import { CliError, EXIT } from "./failure.js";
import { readBytes } from "./payload.js";

/** A key set from its host, or from a file. */
export async function keysFrom(source: string, allowInsecure = false): Promise<KeyResolver> {
  if (/^https?:/.test(source))
    return remoteKeys(source, {
      allowInsecureLoopback: true,
      ...(allowInsecure ? { allowPrivateNetwork: true } : {}),
    });
  const bytes = await readBytes(source);
  try {
    return fixedKeys(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    throw new CliError(
      EXIT.setup,
      "KEY_SET_INVALID",
      `${source} is not a key set${error instanceof SyntaxError ? "" : `: ${(error as Error).message}`}.`,
    );
  }
}
