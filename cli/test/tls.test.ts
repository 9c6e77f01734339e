import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCertificates } from "../../test/kit/certificates.js";
import { lateResult } from "../../test/kit/late-result.js";
import {
  connectProxy,
  httpServer,
  httpsServer,
  type LocalServer,
  PROXY_ANSWERS,
  refusingProxy,
  tcpServer,
} from "../../test/kit/local-server.js";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

const asked: string[] = [];
let stage: Stage;
let proxy: LocalServer;
let url: string;
let serverCertificate: { cert: string; key: string };

beforeAll(async () => {
  requireBuild();
  const { ca, server } = runCertificates();
  serverCertificate = server;
  stage = await openStage();
  const file = (name: string, content: string) =>
    writeFileSync(join(stage.folder, "work", name), content, { mode: 0o600 });
  file("ca.pem", ca);
  file("cert.pem", server.cert);
  file("key.pem", server.key);
  file("secret.txt", "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE");
  proxy = await connectProxy(asked);
  const [listening = ""] = await stage.run(
    "hookproof listen --tls-cert cert.pem --tls-key key.pem --secret-file secret.txt &",
  );
  url = listening.replace("127.0.0.1", "localhost");
});
afterAll(async () => {
  await stage.close();
  await proxy.stop();
});

const send = (flags: string, environment = "", target = url) =>
  stage.run(
    `${environment} hookproof send ${target} --secret-file secret.txt --data 1 --retries 0 --quiet ${flags} >/dev/null; echo $?`,
  );

/** The same listener under a name that only the proxy can lead to. */
const behind = () => url.replace("localhost", "tenant.example.com");

describe("TLS and proxies", () => {
  it("trusts the authority of a folder's configuration for its own target, and for no other", async () => {
    const config = join(stage.folder, "work", "hookproof.config.json");
    try {
      for (const target of [undefined, "https://tenant.example.com/api/v1/webhooks/incoming/lst_1"]) {
        writeFileSync(config, JSON.stringify({ target, ca: "ca.pem" }));
        expect((await send(""))[0]).toBe("6");
        expect(await send("--ca ca.pem")).toEqual(["0"]);
        expect(await send("--config hookproof.config.json")).toEqual(["0"]);
      }
      await stage.run(`printf '{"target":"${url}","ca":"ca.pem"}' > hookproof.config.json`);
      expect(await send("")).toEqual(["0"]);
    } finally {
      rmSync(config);
    }
  });

  it("trusts it as little where a service is controlled, or a request is forwarded", async () => {
    const config = join(stage.folder, "work", "hookproof.config.json");
    writeFileSync(config, JSON.stringify({ ca: "ca.pem" }));
    writeFileSync(join(stage.folder, "work", "token.txt"), "any", { mode: 0o600 });
    try {
      const control = `hookproof service clock --base-url ${new URL(url).origin} --control-token-file token.txt`;
      expect((await stage.run(`${control} 2>&1`)).join("\n")).toMatch(/TLS failed|certificate/);
      // It is reached, and is no service.
      expect((await stage.run(`${control} --ca ca.pem 2>&1; echo $?`)).join("\n")).not.toContain(
        "certificate",
      );
      const listen = `hookproof listen --port 4411 --no-ui --secret-file secret.txt --forward-to ${url}`;
      const forwarded = (flags: string) =>
        stage.run(
          `${listen} ${flags} >said 2>hints & until [ -s said ]; do sleep 0.05; done; hookproof send :4411 --secret-file secret.txt --data 1 -q; kill %1; wait; cat said hints`,
        );
      expect((await forwarded("")).join("\n")).toContain("TLS failed");
      expect((await forwarded("--ca ca.pem")).join("\n")).not.toMatch(/TLS failed|certificate/);
    } finally {
      rmSync(config);
    }
  });

  it("trusts a listener by --ca, and nobody without it", async () => {
    expect(await send("--ca ca.pem")).toEqual(["0"]);
    expect(await send("")).toEqual([
      "6",
      expect.stringMatching(/^! error\[TLS_FAILED\]/),
      expect.stringContaining("with --ca <file>, or use --insecure"),
    ]);
  });

  it("leaves the check out with --insecure, on loopback", async () => {
    expect(await send("--insecure")).toEqual(["0"]);
    expect((await send("--insecure", "", behind()))[0]).toBe("2");
  });

  it("goes through HTTPS_PROXY with the listener's certificate still checked, and past it by NO_PROXY", async () => {
    const through = `HTTPS_PROXY=http://127.0.0.1:${proxy.port}`;
    expect(await send("--ca ca.pem", through, behind())).toEqual(["0"]);
    expect(asked).toEqual([expect.stringMatching(/^CONNECT tenant\.example\.com:\d+ HTTP\/1\.1$/)]);
    expect((await send("", through, behind()))[0]).toBe("6");
    expect(asked).toHaveLength(2);
    expect((await send("--ca ca.pem", `${through} NO_PROXY=tenant.example.com`, behind()))[0]).toBe("6");
    expect(asked).toHaveLength(2);
  });

  it.each(["localhost", "localhost.", "127.0.0.1", "127.1", "[::ffff:127.0.0.1]", "a.localhost"])(
    "never goes through a proxy to %s, checked or not",
    async (host) => {
      const before = asked.length;
      const environment = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]
        .map((name) => `${name}=http://127.0.0.1:${proxy.port}`)
        .join(" ");
      const target = url.replace("localhost", host);
      await send("--insecure", environment, target);
      await send("--ca ca.pem", environment, target);
      await stage.run(`${environment} hookproof doctor ${target} --ca ca.pem >/dev/null`);
      expect(asked).toHaveLength(before);
    },
  );
});

describe("a proxy that answers in the listener's place", () => {
  const refusals: LocalServer[] = [];
  afterAll(() => Promise.all(refusals.map((one) => one.stop())));

  /** The environment of a proxy with this answer. */
  async function answering(answer: string | readonly string[], read: Buffer[] = []): Promise<string> {
    const refusing = await refusingProxy(answer, read);
    refusals.push(refusing);
    return `HTTPS_PROXY=http://127.0.0.1:${refusing.port}`;
  }

  const some = PROXY_ANSWERS.filter(([name]) => /^(?:200|202|302|400 with|407|409)/.test(name));
  it.each(some)("%s: send fails with PROXY_FAILED and exit code 6", async (_name, answer, told) => {
    const read: Buffer[] = [];
    const [exit, ...printed] = await send("--ca ca.pem", await answering(answer, read), behind());
    expect(exit).toBe("6");
    expect(printed.join("\n")).toMatch(/^! error\[PROXY_FAILED\]/);
    expect(printed.join("\n")).toContain(told);
    expect(Buffer.concat(read).toString("latin1")).not.toContain("Webhook-");
  });

  it("does not hold a command up by never answering", async () => {
    const silent = await tcpServer(() => {});
    refusals.push(silent);
    const environment = `HTTPS_PROXY=http://127.0.0.1:${silent.port}`;
    const printed = await lateResult(async (ms) => {
      const before = silent.connections.length;
      const printed = await send(`--ca ca.pem --timeout ${ms}ms`, environment, behind());
      return silent.connections.length > before ? printed : undefined;
    });
    expect(printed).toEqual(["6", expect.stringMatching(/^! error\[PROXY_FAILED\]/)]);
  });

  it("is tried again, and said to be what failed", async () => {
    const read: Buffer[] = [];
    const environment = await answering("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", read);
    const printed = await stage.run(
      `${environment} hookproof send ${behind()} --secret-file secret.txt --data 1 --retries 1`,
    );
    expect(printed.join("\n")).toContain("attempt 1 failed (PROXY_FAILED)");
    expect(
      Buffer.concat(read)
        .toString("latin1")
        .match(/CONNECT/g),
    ).toHaveLength(2);
  });

  it("is no answer to a request that is replayed to the letter", async () => {
    const recorded = `{"v":1,"at":1,"eventId":"1f0e8c8e-3c5e-4b51-8d2b-0d1f6e1f4a11","url":"${behind()}","method":"hmac","headers":{},"bodyBase64":"MQ==","outcome":"accepted","status":200}`;
    await stage.run(`echo '${recorded}' > recorded.json`);
    const environment = await answering("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n");
    const printed = await stage.run(
      `${environment} hookproof replay recorded.json --exact --yes --ca ca.pem`,
    );
    expect(printed.join("\n")).toMatch(/! error\[PROXY_FAILED\] {2}The proxy answered 409/);
    expect(printed.at(-1)).toBe("? 6");
  });

  it("is no answer to doctor, and its Date says nothing about the listener's clock", async () => {
    const [, answer] = PROXY_ANSWERS.find(([name]) => name.includes("Date")) ?? [];
    const printed = await stage.run(
      `${await answering(answer ?? "")} hookproof doctor ${behind()} --ca ca.pem`,
    );
    expect(printed.join("\n")).toContain("the proxy answered 400 instead");
    expect(printed.join("\n")).not.toMatch(/clock/);
    expect(printed.at(-1)).toBe("? 7");
  });

  it("is no answer of the service that gives tokens", async () => {
    const environment = await answering(
      'HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{"access_token": "at"}',
    );
    const printed = await stage.run(
      `${environment} hookproof service token --base-url https://tenant.example.com --client-secret-file secret.txt`,
    );
    expect(printed.join("\n")).toContain("error[CONNECTION_FAILED]");
  });

  it("ends no probes with a finding", async () => {
    const environment = await answering("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    const printed = await stage.run(
      `${environment} hookproof test ${behind()} --secret-file secret.txt --ca ca.pem`,
    );
    expect(printed.join("\n")).toContain("error[PROXY_FAILED]");
  });
});

describe("the listener's clock", () => {
  it.each([
    ["--ca ca.pem", "", true],
    ["--insecure", "", false],
    ["", "NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1", false],
  ])("is read over TLS that is checked: %s %s", async (flags, environment, isBelieved) => {
    const server = await httpsServer(serverCertificate, (req, res) => {
      const ahead = new Date(Date.now() + 72_000_000).toUTCString();
      req.resume().on("end", () => res.writeHead(400, { Date: ahead }).end());
    });
    const target = `https://localhost:${server.port}/api/v1/webhooks/incoming/lst_1`;
    const printed = await stage.run(
      `${environment} hookproof send ${target} --secret-file secret.txt --data 1 --retries 0 ${flags}`,
    );
    await server.stop();
    expect(/The listener's clock is \d+ s ahead/.test(printed.join("\n"))).toBe(isBelieved);
    expect(printed.at(-1)).toBe("? 4");
  });
});

it.each(["--insecure", "--ca ca.pem"])("%s means nothing to a listener over plain HTTP", async (flag) => {
  const server = await httpServer((req, res) => req.resume().on("end", () => res.end()));
  const target = `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`;
  expect(await send(flag, "", target)).toEqual(["0"]);
  await server.stop();
});

describe("doctor", () => {
  /** A receiver that says this and closes. */
  async function receiver(answer: string): Promise<LocalServer> {
    return tcpServer((socket) => socket.once("data", () => socket.end(answer)));
  }

  it.each([
    ["closes after its answer", "HTTP/1.1 405 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"],
    ["closes without saying so", "HTTP/1.0 405 No\r\n\r\n"],
    ["sends a body to HEAD and closes", "HTTP/1.1 405 No\r\nContent-Length: 2\r\n\r\nno"],
  ])("looks at a receiver that %s", async (_name, answer) => {
    const server = await receiver(answer);
    const printed = await stage.run(`hookproof doctor http://127.0.0.1:${server.port}/`);
    await server.stop();
    expect(printed.join("\n")).toContain("answered 405");
    expect(printed.join("\n")).not.toContain("UNEXPECTED");
  });

  it("looks at one that closes over TLS", async () => {
    const { server: certificate } = runCertificates();
    const server = await httpsServer(certificate, (_req, res) => {
      res.writeHead(405, { connection: "close" }).end();
      res.socket?.end();
    });
    const printed = await stage.run(`hookproof doctor https://127.0.0.1:${server.port}/ --insecure`);
    await server.stop();
    expect(printed.join("\n")).toMatch(/answered 405[\s\S]*the certificate expires in 1 day\b/);
  });

  it.each([
    [
      "103 without end",
      "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000),
      "more than 20 informational answers",
    ],
    ["line ends without end", "\r\n".repeat(100_000), "more than 64 KiB arrived before the answer"],
    ["101", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "answered 101"],
  ])("is not held up by %s", async (_name, answer, said) => {
    const server = await tcpServer((socket) => socket.once("data", () => socket.write(answer)));
    const printed = await stage.run(`hookproof doctor http://127.0.0.1:${server.port}/`);
    await server.stop();
    expect(printed.join("\n")).toContain(said);
  });
});
