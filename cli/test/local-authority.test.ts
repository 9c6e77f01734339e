import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { generate } from "selfsigned";
import { describe, expect, it, onTestFinished } from "vitest";
import { httpsServer } from "../../test/kit/local-server.js";
import { describeWith, itWith, POSIX } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import type { Io } from "../src/io.js";
import { localCertificate, localTrust } from "../src/serve/local-authority.js";

/** A home of its own, with what the authority keeps there. */
function home(more: Record<string, string> = {}) {
  const folder = temporaryFolder("authority");
  const io = { env: { HOOKPROOF_HOME: folder, ...more } } as unknown as Io;
  return { io, folder, kept: join(folder, "authority") };
}

/** What a client that trusts `ca` says of a server with this certificate under a name. */
async function verdictOf(
  server: { cert: string; key: string },
  ca: string[] | undefined,
  servername: string,
): Promise<string> {
  const { port, stop } = await httpsServer(server, (_request, response) => response.end());
  onTestFinished(stop);
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", servername, ca }, () => {
      socket.destroy();
      resolve("trusted");
    });
    socket.once("error", (error) => resolve(error.message));
  });
}

/** A certificate for another name, signed with the authority's own key: what a thief of that key could make. */
async function stolen(kept: string, altNames: { type: 2 | 7; value?: string; ip?: string }[]) {
  const key = readFileSync(join(kept, "authority.key"), "utf8");
  const ca = { key: /-----BEGIN PRIVATE KEY[\s\S]*?END PRIVATE KEY-----/.exec(key)?.[0] ?? "", cert: "" };
  ca.cert = readFileSync(join(kept, "authority.pem"), "utf8");
  const made = await generate([{ name: "commonName", value: "tenant.example.com" }], {
    keyType: "ec",
    algorithm: "sha256",
    ca,
    extensions: [{ name: "subjectAltName", altNames: altNames as never }],
  });
  return { cert: made.cert, key: made.private };
}

describe("the local authority", () => {
  it("is trusted for what it signs for this machine", async () => {
    const { io } = home();
    expect(localTrust(io)).toBeUndefined();
    const certificate = await localCertificate(io);
    expect(await verdictOf(certificate, localTrust(io), "localhost")).toBe("trusted");
    expect(await verdictOf(certificate, undefined, "localhost")).toBe(
      "unable to verify the first certificate",
    );
  });

  it("can sign for no other name and no other address, even by who has its key", async () => {
    const { io, kept } = home();
    await localCertificate(io);
    const trust = localTrust(io);
    const own = await stolen(kept, [{ type: 2, value: "localhost" }]);
    expect(await verdictOf(own, trust, "localhost")).toBe("trusted");
    const foreign = await stolen(kept, [{ type: 2, value: "tenant.example.com" }]);
    expect(await verdictOf(foreign, trust, "tenant.example.com")).toBe("permitted subtree violation");
    const address = await stolen(kept, [
      { type: 2, value: "localhost" },
      { type: 7, ip: "192.0.2.1" },
    ]);
    expect(await verdictOf(address, trust, "localhost")).toBe("permitted subtree violation");
  });

  itWith("openssl", hasTool("openssl", "version"))("says so in its certificate", async () => {
    const { io, kept } = home();
    await localCertificate(io);
    const text = execFileSync("openssl", ["x509", "-noout", "-text", "-in", join(kept, "authority.pem")], {
      encoding: "utf8",
    });
    expect(text).toMatch(
      /Name Constraints: critical\s+Permitted:\s+DNS:localhost\s+IP:127\.0\.0\.0\/255\.0\.0\.0/,
    );
    expect(text).toMatch(/CA:TRUE, pathlen:0/);
  });

  it("is one for commands that begin at once, and one again when what is kept is damaged", async () => {
    const { io, kept } = home();
    const certificates = await Promise.all(Array.from({ length: 5 }, () => localCertificate(io)));
    for (const one of certificates) expect(await verdictOf(one, localTrust(io), "localhost")).toBe("trusted");
    expect(readdirSync(kept).sort()).toEqual(["authority.key", "authority.pem"]);

    // The key of one authority beside the certificate of another.
    const other = home();
    await localCertificate(other.io);
    const key = readFileSync(join(other.kept, "authority.key"), "utf8").split("-----BEGIN CERTIFICATE")[0];
    const own = readFileSync(join(kept, "authority.pem"), "utf8");
    writeFileSync(join(kept, "authority.key"), `${key}${own}`);
    expect(await verdictOf(await localCertificate(io), localTrust(io), "localhost")).toBe("trusted");
  });
});

describeWith(...POSIX)("a certificate that somebody else could have put there", () => {
  const refusals: [string, (kept: string) => void][] = [
    ["in a folder that others may write", (kept) => chmodSync(kept, 0o777)],
    ["in a file that others may write", (kept) => chmodSync(join(kept, "authority.pem"), 0o666)],
    [
      "as a link",
      (kept) => {
        renameSync(join(kept, "authority.pem"), join(kept, "elsewhere.pem"));
        symlinkSync("elsewhere.pem", join(kept, "authority.pem"));
      },
    ],
    [
      "as a folder",
      (kept) => {
        renameSync(join(kept, "authority.pem"), join(kept, "elsewhere.pem"));
        mkdirSync(join(kept, "authority.pem"));
      },
    ],
  ];
  it.each(refusals)("is refused: %s", async (_name, change) => {
    const { io, kept } = home();
    await localCertificate(io);
    change(kept);
    expect(() => localTrust(io)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^FILE_/) }));
  });

  itWith("mkfifo", hasTool("mkfifo", "--version"))("is refused, and not waited for: as a pipe", async () => {
    const { io, kept } = home();
    await localCertificate(io);
    renameSync(join(kept, "authority.pem"), join(kept, "elsewhere.pem"));
    execFileSync("mkfifo", ["-m", "600", join(kept, "authority.pem")]);
    expect(() => localTrust(io)).toThrow(expect.objectContaining({ code: "FILE_UNREADABLE" }));
  });
});

it("NODE_EXTRA_CA_CERTS that cannot be read is passed over, as Node does", async () => {
  const { io } = home({ NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" });
  await localCertificate(io);
  expect(localTrust(io)?.length).toBeGreaterThan(50);
});
