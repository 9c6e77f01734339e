// No command of the service sends a token or a secret in plain text to another machine.
import dns from "node:dns";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

/** The commands that ask a running service; what is in braces is the test's. */
const ASKING = [
  "service token --client-secret-file {token} --base-url {url}",
  "service reset --yes --all --control-token-file {token} --base-url {url}",
  "service export --control-token-file {token} --base-url {url}",
  "service diff {state} {url} --control-token-file {token}",
  "service fault --clear --control-token-file {token} --base-url {url}",
  "service clock --control-token-file {token} --base-url {url}",
  "service snapshot list --control-token-file {token} --base-url {url}",
  "service journal --control-token-file {token} --base-url {url}",
  "service automation list --control-token-file {token} --base-url {url}",
];

async function answered(command: string, url: string, ...words: string[]) {
  const folder = temporaryFolder("cli-service-plain");
  const [token, state] = [join(folder, "token"), join(folder, "state.yaml")];
  writeFileSync(token, "t".repeat(43), { mode: 0o600 });
  writeFileSync(state, "automations: []\n");
  const asked = command.replace("{token}", token).replace("{state}", state).replace("{url}", url).split(" ");
  let printed = "";
  const write = () =>
    new Writable({
      write(chunk, _encoding, done) {
        printed += String(chunk);
        done();
      },
    });
  const exit = await run([...asked, ...words, "--timeout", "500ms"], {
    stdin: Readable.from([]),
    stdout: write(),
    stderr: write(),
    env: { HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: new AbortController().signal,
  });
  return { exit, printed };
}

afterEach(() => vi.restoreAllMocks());

describe.each(ASKING)("%s", (command) => {
  it.each(["http://203.0.113.1:4420", "http://service.example.com", "http://127.0.0.1.example.com"])(
    "sends nothing to %s",
    async (url) => {
      const { exit, printed } = await answered(command, url);
      expect(printed).toContain("TLS_REQUIRED");
      expect(printed).toContain("--plain-http");
      expect(exit).toBe(2);
    },
  );

  it("asks a container whose name is allowed, also as the second of two", async () => {
    const lookup = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name: string, _options: object, done: (error: Error) => void) =>
        done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }))) as never);
    const allowed = ["--plain-http", "other", "--plain-http", "hookproof-no-such-container"];
    const { printed } = await answered(command, "http://hookproof-no-such-container:1", ...allowed);
    expect(printed).not.toContain("TLS_REQUIRED");
    expect(printed).toContain("CONNECTION_FAILED");
    expect(lookup.mock.calls.map(([name]) => name)).toContain("hookproof-no-such-container");
  });

  it("opens no name of the Internet", async () => {
    const { exit, printed } = await answered(
      command,
      "http://a.example.com",
      "--plain-http",
      "a.example.com",
    );
    expect(printed).toContain("--plain-http cannot be");
    expect(exit).toBe(2);
  });
});

it("doctor sends no header of the user's in plain text to another machine", async () => {
  const own = ["--header", "X-Key: abc"];
  const { exit, printed } = await answered("doctor {url}", "http://service.example.com/x", ...own);
  expect(printed).toContain("TLS_REQUIRED");
  expect(exit).toBe(2);
});
