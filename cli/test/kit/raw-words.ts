// What an error of ours has, and what gives away one of somebody else.
import { errorCodes } from "hookproof/diagnose";
import { COMMAND_LINE } from "../../src/explain/command-line.js";

/** Every code that the documentation knows. */
export const CODES: ReadonlySet<string> = new Set([...errorCodes(), ...Object.keys(COMMAND_LINE)]);

/** Words of Node, of a driver or of a library, which say nothing of an option. */
export const RAW =
  /\bE[A-Z]{3,}: |ERR_[A-Z]+_|Invalid URL|is not a function|TypeError|RangeError|SyntaxError|\[object |\bundefined\b|ConnectionFailed\(|Hrana|opened: connect |\(E[A-Z]+\)[;.] nothing|unable to open|URI malformed|UNEXPECTED|\[\]|(?<!\w)\(\)/;
