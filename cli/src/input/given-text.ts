// Refuses a text of the command line or the environment that was no UTF-8.
import { CliError, EXIT } from "../failure.js";

/** Where Node could not read the bytes of such a text, it has put U+FFFD, without a word. */
export function requireReadable(name: string): never {
  throw new CliError(EXIT.setup, "TEXT_ENCODING", `${name} has bytes that are not UTF-8.`, {
    hint: "Give it as a file that is saved as UTF-8.",
  });
}
