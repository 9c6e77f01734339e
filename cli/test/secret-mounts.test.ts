import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWith } from "../../test/kit/needs.js";
import { requireBuild } from "../../test/kit/transcript.js";

const CHECKOUT = resolve(import.meta.dirname, "../..");
const BIN = join(CHECKOUT, "cli/bin/hookproof.cjs");
const canMount = spawnSync("unshare", ["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

let folder: string;
beforeAll(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), "hookproof-mount-"));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeWith("unshare", canMount)("a secret that a container's platform mounts", () => {
  const write = (mode: string, path: string) =>
    `printf a-secret-of-more-than-thirty-two-characters > ${path}; chmod ${mode} ${path}`;
  const sign = (path: string) => `"${process.execPath}" "${BIN}" sign --data 1 --secret-file ${path}`;
  /** The exit code of a command in a namespace with file systems of its own. */
  const outcome = (...lines: string[]) => {
    const script = `set -e; mount -t tmpfs none ${folder}; cd ${folder}; ${lines.join("; ")}`;
    const env = { ...process.env, HOME: folder };
    const { status, stderr } = spawnSync("unshare", ["-Urm", "bash", "-c", script], {
      encoding: "utf8",
      env,
    });
    return [status, /error\[(\w+)\]/.exec(stderr)?.[1]];
  };

  it("is accepted on a read-only mount, as Kubernetes has it, and not on one that can be written", () => {
    expect(outcome(write("644", "s"), "mount -o remount,bind,ro .", sign("s"))).toEqual([0, undefined]);
    expect(outcome(write("644", "s"), sign("s"))).toEqual([3, "FILE_MODE_TOO_WIDE"]);
  });

  it("is accepted in /run/secrets, as Docker has it, if only root can write it", () => {
    const mount = "mount -t tmpfs none /run; mkdir /run/secrets";
    expect(outcome(mount, write("444", "/run/secrets/s"), sign("/run/secrets/s"))).toEqual([0, undefined]);
    expect(outcome(mount, write("666", "/run/secrets/s"), sign("/run/secrets/s"))).toEqual([
      3,
      "FILE_MODE_TOO_WIDE",
    ]);
    expect(outcome(mount, write("444", "/run/s"), sign("/run/secrets/../s"))).toEqual([
      3,
      "FILE_MODE_TOO_WIDE",
    ]);
  });
});

const asOther = "mount -t tmpfs none /mnt && setpriv --reuid 1000 --clear-groups true";
const canBeOther = process.getuid?.() === 0 && spawnSync("unshare", ["-m", "sh", "-c", asOther]).status === 0;

describeWith("root, unshare, mount and setpriv", canBeOther)(
  "for a user other than root, as Kubernetes advises",
  () => {
    /** A secret of root with mode 0644, on a mount of which the container sees a read-only view; what uid 1000 gets. */
    const outcome = (...view: string[]) => {
      const script = [
        "set -e",
        `mount -t tmpfs none ${folder}; cd ${folder}; chmod 755 .; mkdir made seen home; chown 1000 home`,
        "printf a-secret-of-more-than-thirty-two-characters > made/s; chmod 644 made/s",
        "mount --bind made seen",
        ...view,
        // This checkout, or Node itself, may lie in a folder that is closed to the other user.
        `mkdir checkout; mount --bind "${CHECKOUT}" checkout; touch node; mount --bind "${process.execPath}" node`,
        `exec setpriv --reuid 1000 --clear-groups ./node "checkout/${relative(CHECKOUT, BIN)}" sign --data 1 --secret-file seen/s`,
      ].join("\n");
      const env = { ...process.env, HOME: join(folder, "home") };
      const { status, stderr } = spawnSync("unshare", ["-m", "bash", "-c", script], {
        encoding: "utf8",
        env,
      });
      return [status, /error\[(\w+)\]/.exec(stderr)?.[1]];
    };

    it("is accepted on a read-only view of a mount that others can write, and not on one to write", () => {
      expect(outcome("mount -o remount,bind,ro seen")).toEqual([0, undefined]);
      expect(outcome()).toEqual([3, "FILE_MODE_TOO_WIDE"]);
    });
  },
);

describe("elsewhere", () => {
  it("a wide mode is refused with what to do instead", () => {
    const path = join(folder, "wide.txt");
    spawnSync("sh", [
      "-c",
      `echo a-secret-of-more-than-thirty-two-characters > "${path}"; chmod 644 "${path}"`,
    ]);
    const { status, stderr } = spawnSync(
      process.execPath,
      [BIN, "sign", "--data", "1", "--secret-file", path],
      { encoding: "utf8" },
    );
    expect(status).toBe(3);
    expect(stderr).toContain(`chmod 600 ${path}, or give it with --secret-file - or HOOKPROOF_SECRET`);
  });
});
