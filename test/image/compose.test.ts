import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { requireBuild } from "../kit/transcript.js";
import { ROOT } from "./compose-file.js";
import { hasPostgres } from "./compose-postgres.js";

/** A network of its own, in which the ports of compose.yaml are free. */
const alone = ["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"];
const isRoot = process.getuid?.() === 0;
const sandbox = [...alone, ...(isRoot ? ["--cap-add", "ALL"] : [])];

itWith("postgresql and bwrap", hasPostgres && hasTool("bwrap", ...sandbox, "bwrap", ...alone, "true"))(
  "from compose.yaml to an event of SQL that is delivered, shown and counted",
  async () => {
    requireBuild();
    const program = [process.execPath, "--import", "tsx", "--conditions=source", "test/image/stand-in.ts"];
    const { stdout } = await promisify(execFile)("bwrap", [...sandbox, ...program], { cwd: ROOT });
    const { services } = JSON.parse(stdout);
    expect(services).toEqual(["setup", "postgres", "tables", "worker", "listener", "outbox-page"]);
  },
);
