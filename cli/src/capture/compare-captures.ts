// Compares a request as it was sent with the same one as it was received.
import { type Change, type ComparedRequest, type Comparison, compare } from "hookproof/diagnose";
import type { Args, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { readAll } from "../files/files.js";
import type { Io } from "../io.js";
import type { Output } from "../output.js";
import { parseCaptured, withoutBody } from "./captured-request.js";

/** What belongs to the other way of `verify`: one capture and a secret. */
const OF_ONE_CAPTURE = [
  "file",
  "headers",
  "body",
  "jwks",
  "url",
  "secret-file",
  "at",
  "ignore-time",
  "diagnose",
];

/** `verify --sent --received`: prints what was changed on a request's way, and gives the exit code. */
export async function compareCaptures({ args, io, out }: Context): Promise<number> {
  const [sent, received] = await captures(args, io, out);
  const found = await compare({ sent, received });
  const changed = found.changes.filter(({ matters }) => matters).length;
  out.document({ type: "comparison", ok: changed === 0, ...found });
  for (const change of found.changes) printChange(out, change);
  if (found.through.length > 0) out.line(`It came through: ${found.through.join(", ")}.`);
  out.line(conclusion(found, changed));
  return changed === 0 ? EXIT.ok : EXIT.checkFailed;
}

async function captures(
  args: Args,
  io: Io,
  out: Output,
): Promise<[sent: ComparedRequest, received: ComparedRequest]> {
  const [sent, received] = [args.text("sent"), args.text("received")];
  if (sent === undefined || received === undefined)
    throw usageError("--sent and --received belong together: give both captures of one request.");
  if (sent === "-" && received === "-")
    throw usageError("Only one of --sent and --received can be standard input.");
  const other = OF_ONE_CAPTURE.find((name) => args.isGiven(name));
  if (other !== undefined)
    throw usageError(
      `--sent and --received exclude ${other === "file" ? "a file" : `--${other}`}: they are compared with each other.`,
      "Check one capture against the secret with: hookproof verify received.http --secret-file secret.txt",
    );
  return [await capture(sent, io, out), await capture(received, io, out)];
}

async function capture(file: string, io: Io, out: Output): Promise<ComparedRequest> {
  const { method, target, headers, body, doubt, lacksBody } = parseCaptured(await readAll(io, file));
  if (lacksBody !== undefined) throw withoutBody(file, lacksBody);
  if (doubt !== undefined) out.warn(`The body in ${file} may not be what it was: ${doubt}.`);
  return { method, url: target, headers, body };
}

function printChange(out: Output, { id, message, fix, by, matters }: Change): void {
  const mark = matters ? out.paint("red", "✖") : out.paint("yellow", "!");
  out.line(`${mark} ${id}  ${message}`);
  if (!matters) return;
  if (by.length > 0) out.line(`  known from      ${by.join("; ")}`);
  out.line(`  fix             ${fix}`);
}

function conclusion({ equal }: Comparison, changed: number): string {
  const next = "What goes wrong goes wrong before it was sent, or after it was received.";
  if (equal) return `Both requests are the same. ${next}`;
  if (changed === 0) return `Nothing that a listener checks was changed on the way. ${next}`;
  return `What a listener checks was changed on the way: ${changed} ${changed === 1 ? "change" : "changes"}.`;
}
