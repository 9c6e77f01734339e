// Which test runs an advice as it is printed, or why none does.
import { HMAC_MUTANTS } from "../../kit/probes/hmac-mutants.js";
import { JWT_MUTANTS } from "../../kit/probes/jwt-mutants.js";
import { type Advice, commandsIn } from "./advice.js";
import { commandsOf } from "./commands.js";
import { compiledIn } from "./compiled.js";
import { piecesOf, withoutWhatIsNotTold } from "./pieces.js";
import { storyOf } from "./stories.js";

/** How far an advice is run. */
export interface RunBy {
  /** `run`: a test does what it says. `words`: it has neither code nor command. `open`: it has, and no test runs it. */
  readonly state: "run" | "words" | "open";
  /** The test, or nothing. */
  readonly by: string;
}

const CAUGHT = new Set(
  [...HMAC_MUTANTS, ...JWT_MUTANTS].flatMap(({ fails, unclear = [] }) => [...fails, ...unclear]),
);

/** A call, or a command with its words; "base64 of" is none. */
const CODE = /\w\(|\b(?:openssl|curl|npm|chmod|printf|jq|timedatectl) [-\w]|\bbase64 -/;

const listed = (pieces: readonly { code: string }[]) => pieces.map(({ code }) => `\`${code}\``).join(", ");

export function runBy({ kind, id, fix }: Advice): RunBy {
  const [pieces, compiled] = [piecesOf(fix), compiledIn(fix)];
  const ran = [
    ...(pieces.length > 0 ? [`run-fixes: ${listed(pieces)}`] : []),
    ...(compiled.length > 0 ? [`compiled-fixes: ${listed(compiled)}`] : []),
  ];
  if (ran.length > 0) return { state: "run", by: ran.join("; ") };
  const commands = commandsOf(fix);
  if (commands.length > 0 && !(kind === "code" && storyOf(id, fix)))
    return {
      state: "run",
      by: `run-commands: ${commands.map(({ printed }) => `\`${printed}\``).join(", ")}`,
    };
  const story = kind === "code" ? storyOf(id, fix) : undefined;
  if (story) return { state: "run", by: `run-stories: ${listed(story.printed.map((code) => ({ code })))}` };
  // A listener with the bug fails the probe, and the one that does what the fix says passes it.
  if (kind === "probe" && CAUGHT.has(id)) return { state: "run", by: "mutants" };
  const told = withoutWhatIsNotTold(fix);
  return CODE.test(told) || commandsIn(told).length > 0
    ? { state: "open", by: "" }
    : { state: "words", by: "" };
}
