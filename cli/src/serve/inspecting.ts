// Starts the inspector next to a local server and opens its page.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Inspector } from "hookproof-service/listeners";
import type { Context, Flag } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { dataFolder, requirePrivate, writePrivateFile } from "../files/files.js";
import type { Io } from "../io.js";
import { started } from "./serving.js";

/** The flags of every command with an inspector. */
export const INSPECTOR_FLAGS = {
  "ui-port": {
    type: "number",
    value: "<n>",
    range: [0, 65_535],
    describe: "the inspector's port; 4401 by default, or a free one where that is taken",
  },
  ui: { type: "boolean", negated: true, describe: "no inspector" },
  open: { type: "boolean", describe: "open the inspector in the browser" },
} as const satisfies Record<string, Flag>;

/** An inspector and its page, where there is to be one. */
export interface Inspecting {
  /** Undefined where nothing is shown or kept. */
  readonly inspector: Inspector | undefined;
  /** The page's URL with its token; undefined with `--no-ui`. */
  readonly url: string | undefined;
  stop(): Promise<void>;
}

/** Starts the inspector that the flags ask for, on its own port and the address of `--host`. */
export async function startInspecting({ args, out }: Pick<Context, "args" | "out">): Promise<Inspecting> {
  const historyFile = args.text("history");
  const isShown = !args.isGiven("ui") || args.flag("ui");
  if (!isShown && (args.flag("open") || args.isGiven("ui-port")))
    throw usageError("--no-ui and --open or --ui-port exclude each other.");
  if (!isShown && historyFile === undefined)
    return { inspector: undefined, url: undefined, stop: async () => {} };
  const { startInspector } = await import("hookproof-service/listeners");
  const inspector = await opened(historyFile, (message) => out.warn(message));
  if (!isShown) return { inspector, url: undefined, stop: async () => inspector.close() };
  const port = args.isGiven("ui-port") ? args.number("ui-port") : undefined;
  const page = await started(
    () => startInspector(inspector, { port, host: args.text("host") }),
    port ?? 0,
    "--ui-port",
  ).catch((error) => {
    inspector.close();
    throw error;
  });
  return { inspector, url: page.pageUrl, stop: page.stop };
}

/** Prints the inspector's URL, and opens it with --open. */
export async function presentInspector(
  context: Pick<Context, "args" | "io" | "out">,
  url: string | undefined,
): Promise<void> {
  if (url === undefined) return;
  context.out.note(`inspector: ${url}`);
  await openWithFlag(context, url);
}

/** Opens a page in the browser with --open. */
export async function openWithFlag(
  { args, io, out }: Pick<Context, "args" | "io" | "out">,
  url: string,
): Promise<void> {
  if (!args.flag("open")) return;
  const failed = () => out.warn(`No browser could be started. Open ${url} yourself.`);
  try {
    const { default: open } = await import("open");
    const browser = await open(await privateLink(io, url));
    browser.once("error", failed).once("exit", (code) => code && failed());
  } catch {
    failed();
  }
}

/**
 * A file that redirects to the page and that only this user can read: other users of the machine can read the command
 * line of a browser, and the page's URL holds the token.
 */
async function privateLink(io: Io, url: string): Promise<string> {
  const file = join(dataFolder(io), "sessions", `page-${new URL(url).port}.html`);
  await writePrivateFile(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`);
  return pathToFileURL(file).href;
}

async function opened(
  historyFile: string | undefined,
  onProblem: (message: string) => void,
): Promise<Inspector> {
  if (historyFile === ":memory:")
    throw usageError("--history must be a file: requests are in memory without it.");
  if (historyFile !== undefined && existsSync(historyFile)) requirePrivate(historyFile);
  const { createInspector, InspectorError } = await import("hookproof-service/listeners");
  try {
    return await createInspector({ historyFile, onProblem });
  } catch (error) {
    if (!(error instanceof InspectorError)) throw error;
    throw new CliError(EXIT.setup, error.code, error.message, {
      hint:
        error.code === "FILE_IS_LINK"
          ? "Look at who put it there, and remove it."
          : "Choose another file with --history; it is made where there is none.",
    });
  }
}
