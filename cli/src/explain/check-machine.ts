// What `doctor` checks of this machine without a connection.
import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { CliError } from "../failure.js";
import { dataFolder } from "../files/files.js";
import type { Io } from "../io.js";
import { isListening } from "../serve/sessions.js";
import { wordOf } from "../shell-word.js";

/** What one check of `doctor` has found. */
export interface Finding {
  readonly id: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

const OLDEST_NODE = [20, 19] as const;
const PORTS = [4400, 4410] as const;

/** Everything that can be checked without a connection. */
export async function checkMachine(io: Io): Promise<Finding[]> {
  return [nodeVersion(), ...dataFolderModes(io), ...(await ports(io)), proxy(io), extraCertificates(io)];
}

function nodeVersion(): Finding {
  const version = process.versions.node;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  return isOld
    ? {
        id: "node",
        state: "fail",
        message: `Node ${version}`,
        hint: `Install ${OLDEST_NODE.join(".")} or later.`,
      }
    : { id: "node", state: "ok", message: `Node ${version}` };
}

/** Only the owner may read secrets, keys, sessions and history. */
function dataFolderModes(io: Io): Finding[] {
  let folder: string;
  try {
    folder = dataFolder(io);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [
      { id: "data", state: "warn", message: error.message, ...(error.hint ? { hint: error.hint } : {}) },
    ];
  }
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) return [{ id: "data", state: "ok", message: `${folder} is not there yet` }];
  if (process.platform === "win32") return [{ id: "data", state: "ok", message: folder }];
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const wide = ["", ...entries].map((entry) => join(folder, entry)).filter(isWide);
  const writable = canWrite(folder)
    ? []
    : [
        {
          id: "data",
          state: "fail",
          message: `${folder} cannot be written`,
          hint: "Set HOOKPROOF_HOME.",
        } as const,
      ];
  return [
    ...writable,
    ...wide.map((path) => ({
      id: "modes",
      state: "fail" as const,
      message: `${path} can be read by others`,
      hint: `chmod go= ${wordOf(path)}`,
    })),
    ...(wide.length > 0
      ? []
      : [{ id: "modes", state: "ok" as const, message: `${folder} and what is in it` }]),
  ];
}

function isWide(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & 0o077) !== 0;
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function ports(io: Io): Promise<Finding[]> {
  return Promise.all(
    PORTS.map(async (port) => {
      if (isListening(io, port))
        return { id: "ports", state: "ok", message: `${port} has a listener of hookproof` };
      const isFree = await canListen(port);
      return isFree
        ? { id: "ports", state: "ok", message: `${port} is free` }
        : {
            id: "ports",
            state: "warn",
            message: `${port} is in use`,
            hint: "Choose another with --port, or 0.",
          };
    }),
  );
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function proxy({ env }: Io): Finding {
  const name = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].find((variable) => env[variable]);
  if (name === undefined) return { id: "proxy", state: "ok", message: "none is set" };
  // A proxy's URL may hold a password.
  const host = URL.canParse(env[name] ?? "") ? new URL(env[name] ?? "").host : undefined;
  return host
    ? {
        id: "proxy",
        state: "ok",
        message: `${name} goes through ${host}${env.NO_PROXY ? ", not for NO_PROXY" : ""}`,
      }
    : { id: "proxy", state: "fail", message: `${name} is not a URL`, hint: `${name}=http://host:port` };
}

function extraCertificates({ env }: Io): Finding {
  const file = env.NODE_EXTRA_CA_CERTS;
  if (!file) return { id: "ca", state: "ok", message: "NODE_EXTRA_CA_CERTS is not set" };
  try {
    accessSync(file, constants.R_OK);
    return { id: "ca", state: "ok", message: `NODE_EXTRA_CA_CERTS is ${file}` };
  } catch {
    return {
      id: "ca",
      state: "fail",
      message: `NODE_EXTRA_CA_CERTS names ${file}, which cannot be read`,
      hint: "Node goes on without it, with a warning only.",
    };
  }
}
