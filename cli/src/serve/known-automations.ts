// The automations of the running service, for the completion of their ids.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../command.js";
import type { Config } from "../config/config.js";
import { isLoopback, originOf } from "../credentials/origin-rule.js";
import { dataFolder } from "../files/files.js";
import type { Io } from "../io.js";
import { inertLine } from "../output.js";
import { askControl, SERVICE_URL } from "./control-client.js";

/** A tab is pressed for an answer at once. */
const TIMEOUT_MS = 2_000;

/** More than anybody reads in a shell's list. */
const MAX_PAGES = 5;

/**
 * The ids of the automations with their names. The control token goes to this machine alone: whoever presses a key has
 * not yet sent the line.
 */
export async function knownAutomations(
  words: readonly string[],
  config: Config,
  io: Io,
): Promise<{ word: string; does: string }[]> {
  const text = (name: string) => valueIn(words, `--${name}`);
  const baseUrl = text("base-url") ?? SERVICE_URL;
  const origin = originOf(baseUrl);
  if (origin === undefined || !isLoopback(origin)) return [];
  const isNamed = text("db") !== undefined || text("control-token-file") !== undefined;
  // Looked for, and not made: a tab leaves nothing.
  if (!isNamed && !existsSync(join(dataFolder(io), "service", "service.db"))) return [];
  const args = { text, flag: (name: string) => words.includes(`--${name}`) } as Context["args"];
  const context = { args, config, io, global: { timeoutMs: TIMEOUT_MS } as Context["global"] };
  const found: { word: string; does: string }[] = [];
  for (let [page, token] = [0, ""]; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ page_size: "100", page_token: token });
    const { list, nextPageToken } = (await askControl(context, "GET", `automations?${query}`, undefined, {
      baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ""),
    })) as { list: { id: string; displayName: string }[]; nextPageToken: string };
    for (const { id, displayName } of list) found.push({ word: id, does: inertLine(displayName) });
    if (nextPageToken === "") break;
    token = nextPageToken;
  }
  return found;
}

/** The value of a flag among words, in both of its forms. */
function valueIn(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(flag);
  if (at >= 0) return words[at + 1];
  return words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
}
