import { createPrivateKey } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCertificates } from "../../test/kit/certificates.js";
import { httpServer, httpsServer, type LocalServer } from "../../test/kit/local-server.js";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

const CREDENTIAL = "Basic dXNlcjpsb25nLXBhc3N3b3Jk";
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PATH = "/api/v1/webhooks/incoming/lst_1";

/** What the servers got, and what they answer: the headers of the request, as frameworks do while they are debugged. */
const seen: IncomingMessage["headers"][] = [];
let status = 200;
/** What they say instead. */
let said: ((request: IncomingMessage) => string) | undefined;
const echo = (request: IncomingMessage, response: ServerResponse) => {
  seen.push(request.headers);
  request.resume();
  const told = { code: "X_REFUSED", message: JSON.stringify(request.headers) };
  request.on("end", () =>
    response
      .writeHead(status, { "X-Echo": String(request.headers["x-gateway"]) })
      .end(said?.(request) ?? JSON.stringify(told)),
  );
};

let stage: Stage;
let plain: LocalServer;
let other: LocalServer;
let mutual: LocalServer;

const file = (name: string, content: string) => {
  const path = join(stage.folder, "work", name);
  writeFileSync(path, content, { mode: 0o600 });
  chmodSync(path, 0o600);
};

beforeAll(async () => {
  requireBuild();
  const { ca, server, client, alone } = runCertificates();
  stage = await openStage();
  plain = await httpServer(echo);
  other = await httpServer(echo);
  mutual = await httpsServer({ ...server, ca, requestCert: true, rejectUnauthorized: true }, echo);
  file("ca.pem", ca);
  file("client.pem", client.cert);
  file("client.key", client.key);
  file("both.pem", `${client.cert}\n${client.key}`);
  file("alone.key", alone.key);
  file("secret.txt", SECRET);
  file("value.txt", `${CREDENTIAL}\n`);
  file("lines.txt", `X-Gateway: ${CREDENTIAL}\r\n\r\nX-Team: payments\r\n`);
  file("team.txt", "payments\n");
});
afterAll(async () => {
  await stage.close();
  for (const server of [plain, other, mutual]) await server.stop();
});
beforeEach(() => {
  seen.length = 0;
  status = 200;
  said = undefined;
});

const run = async (line: string) => (await stage.run(`${line}; echo $?`)).join("\n");
const at = ({ port }: LocalServer) => `http://127.0.0.1:${port}${PATH}`;
const SIGNED = "--secret-file secret.txt --retries 0";

describe("headers of one's own", () => {
  it.each([
    ["a value", `'X-Gateway: ${CREDENTIAL}'`, { "x-gateway": CREDENTIAL }],
    ["a value in a file", "'X-Gateway: @value.txt'", { "x-gateway": CREDENTIAL }],
    ["lines in a file", "@lines.txt", { "x-gateway": CREDENTIAL, "x-team": "payments" }],
  ])("sends %s, and shows its value nowhere", async (_what, header, sent) => {
    for (const answer of [200, 401]) {
      status = answer;
      const shown = await run(
        `hookproof send ${at(plain)} ${SIGNED} --data '{"a":1}' -vv --header ${header}`,
      );
      expect(shown).toContain("> X-Gateway: […]");
      expect(shown).not.toContain(CREDENTIAL.slice(6));
    }
    expect(seen).toEqual([expect.objectContaining(sent), expect.objectContaining(sent)]);
    const kept = await run("hookproof events show last --json; cat $HOOKPROOF_HOME/history.jsonl");
    expect(kept).not.toMatch(/dXNlcjps|x-gateway/i);
  });

  it.each([
    [
      "escaped as PHP writes JSON",
      "sk/live+AbC/DEF0123456789xyz==",
      (value: string) => value.replaceAll("/", "\\/"),
    ],
    [
      "as one cookie of several",
      "lang=en; sid=SESSIONsecret9",
      (value: string) => value.split("sid=")[1] ?? "",
    ],
  ])("is not shown or kept where an answer has it %s", async (_how, value, repeated) => {
    file("own.txt", value);
    status = 401;
    said = (request) => `{"key":"${repeated(String(request.headers["x-gateway"]))}"}`;
    const shown = await run(
      `hookproof send ${at(plain)} ${SIGNED} --data 1 -v --header 'X-Gateway: @own.txt'; hookproof events show last; cat $HOOKPROOF_HOME/history.jsonl`,
    );
    expect(shown).toContain('"key":"[...]"');
    expect(shown).not.toMatch(/AbC|SESSION/);
  });

  it("nor is a token of ours, where an answer repeats it", async () => {
    status = 401;
    said = (request) => `unknown ${String(request.headers.authorization).split(" ")[1]}`;
    await run("hookproof keys generate --alg ES256 --kid k1 --store keys");
    const shown = await run(`hookproof send ${at(plain)} --key k1 --store keys --retries 0 --data 1 -v`);
    expect(shown).toContain("< unknown […]");
    expect(shown).not.toContain("eyJ");
  });

  it("goes with a replay, signed again or exactly, and with probes", async () => {
    const header = "--header 'X-Gateway: @value.txt'";
    await run(`hookproof send ${at(plain)} ${SIGNED} --data '{"a":1}'`);
    seen.length = 0;
    await run(`hookproof replay last --secret-file secret.txt ${header}`);
    await run(`hookproof replay last --exact ${header}`);
    const told = await run(
      `hookproof test ${at(plain)} --secret-file secret.txt --only 'signature-*' ${header} --record kept.json --json -vv`,
    );
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.map((headers) => headers["x-gateway"])).toEqual(seen.map(() => CREDENTIAL));
    const kept = readFileSync(join(stage.folder, "work", "kept.json"), "utf8");
    expect(told + kept).not.toContain(CREDENTIAL.slice(6));
  });

  it.each([
    ["HEADER_RESERVED", "'Webhook-Signature: x'"],
    ["HEADER_RESERVED", "'webhook-event-id: x'"],
    ["HEADER_RESERVED", "'Expect: long-credential'"],
    ["HEADER_RESERVED", "'Content-Type: text/plain'"],
    ["HEADER_RESERVED", "'Content-Length: 3'"],
    ["HEADER_RESERVED", "'Host: example.com'"],
    ["HEADER_RESERVED", "'Transfer-Encoding: chunked'"],
    ["HEADER_INVALID", "$'X-A: long-credential\\r\\nX-B: 1'"],
    ["HEADER_INVALID", "$'X-A\\n: long-credential'"],
    ["HEADER_INVALID", "'X A: long-credential'"],
    ["HEADER_INVALID", "'long-credential'"],
    ["HEADER_INVALID", "'X-A:'"],
    ["HEADER_INVALID", "': long-credential'"],
    ["HEADER_INVALID", "'X-A: long-credential…'"],
    ["HEADER_INVALID", "'X-A: 1' --header 'x-a: 2'"],
    ["HEADER_INVALID", "@/dev/null"],
    ["HEADER_INVALID", "'X-A: @/dev/null'"],
    ["FILE_UNREADABLE", "'X-A: @missing.txt'"],
  ])("%s: refuses %s before anything is sent", async (code, header) => {
    for (const command of [
      `send ${at(plain)} ${SIGNED} --data 1`,
      `test ${at(plain)} --secret-file secret.txt --only 'signature-*'`,
    ]) {
      const shown = await run(`hookproof ${command} --header ${header}`);
      expect(shown).toContain(`error[${code}]`);
      expect(shown).not.toContain("long-credential");
    }
    expect(seen).toEqual([]);
  });

  it("Authorization is free next to a signature, and the token's own with a key", async () => {
    const header = `--header 'Authorization: ${CREDENTIAL}'`;
    expect(await run(`hookproof send ${at(plain)} ${SIGNED} --data 1 ${header}`)).toContain("200 accepted");
    expect(seen.map(({ authorization }) => authorization)).toEqual([CREDENTIAL]);
    await run("hookproof keys generate --alg ES256");
    const shown = await run(`hookproof send ${at(plain)} --method jwt --data 1 ${header}`);
    expect(shown).toContain("error[HEADER_RESERVED]");
  });

  it("go along with what listen forwards, and never in place of the proof", async () => {
    const listening = `hookproof listen --port 4411 --no-ui --forward-to ${new URL(at(other)).host}/in`;
    const started = "until [ -s said ]; do sleep 0.05; done";
    const shown = await run(
      `${listening} --header 'X-Gateway: @value.txt' --header 'User-Agent: mine' >said 2>hints & ${started}; hookproof send :4411 --data 1 -q; kill %1; wait; cat said hints`,
    );
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ "x-gateway": CREDENTIAL, "user-agent": "mine" });
    expect(seen[0]?.["webhook-signature"]).toBeDefined();
    expect(shown).not.toContain(CREDENTIAL.slice(6));
    expect(await run(`${listening} --header 'Webhook-Timestamp: 1'`)).toContain("error[HEADER_RESERVED]");
    expect(await run("hookproof listen --port 4411 --no-ui --header 'X-A: 1'")).toContain(
      "--header is for --forward-to.",
    );
  });

  it("are refused for several listeners, and where others can read their file", async () => {
    file("two.jsonl", "");
    expect(await run(`hookproof send --batch --by-listener -d @two.jsonl --header 'X-A: 1'`)).toContain(
      "--header is for one target",
    );
    file("wide.txt", "X-A: 1");
    chmodSync(join(stage.folder, "work", "wide.txt"), 0o644);
    expect(await run(`hookproof send ${at(plain)} ${SIGNED} --data 1 --header @wide.txt`)).toContain(
      "error[FILE_MODE_TOO_WIDE]",
    );
    expect(seen).toEqual([]);
  });

  it("of a profile go to its target and to no other origin", async () => {
    await run(
      `hookproof profile add gate --target ${at(plain)} --secret-file secret.txt --header-file lines.txt`,
    );
    await run("hookproof send gate --data 1 --retries 0");
    await run(`hookproof send ${at(other)} --profile gate ${SIGNED} --data 1`);
    await run(`hookproof doctor gate`);
    const gateway = seen.map((headers) => headers["x-gateway"]);
    expect(gateway).toEqual([CREDENTIAL, undefined, CREDENTIAL]);
    expect(await run("hookproof profile show --profile gate --json")).not.toContain(CREDENTIAL);
  });

  it("of a variable go to a target that the user gives, and not to one that a folder names", async () => {
    const send = (target: string) =>
      run(`HOOKPROOF_HEADER_FILE=lines.txt hookproof send ${target} ${SIGNED} --data 1`);
    await run(`hookproof profile add plain --target ${at(other)} --secret-file secret.txt`);
    await send(at(plain));
    await send("plain");
    expect(seen.map((headers) => headers["x-gateway"])).toEqual([CREDENTIAL, undefined]);
  });

  it("go with the events of an outbox", async () => {
    await run(
      "hookproof profile add out --user --target http://127.0.0.1:" +
        `${plain.port}${PATH} --secret-file secret.txt --header-file lines.txt`,
    );
    const store = sqliteStore({ open: () => openSqlite(join(stage.folder, "work", "o.db")) });
    await createOutbox({
      store,
      listeners: { out: { url: at(plain), signer: hmacSigner({ secret: SECRET }) } },
    }).enqueue({ listener: "out", payload: {} });
    await store.close?.();
    status = 401;
    await run("hookproof outbox work --outbox o.db --listener out --drain");
    expect(seen.map((headers) => headers["x-gateway"])).toEqual([CREDENTIAL]);
    expect(readFileSync(join(stage.folder, "work", "o.db"), "latin1")).not.toContain(CREDENTIAL.slice(6));
    expect(
      await run(
        "hookproof outbox work --outbox o.db --listener out --listener gate --drain --header 'X-A: 1'",
      ),
    ).toContain("--header is for one listener");
  });
});

describe("a client certificate", () => {
  const secure = () => `https://localhost:${mutual.port}${PATH}`;
  const send = (flags: string) => run(`hookproof send ${secure()} ${SIGNED} --data 1 --ca ca.pem ${flags}`);

  it("opens a listener that demands one, which refuses everybody else", async () => {
    expect(await send("")).toMatch(/^6$[\s\S]*error\[TLS_FAILED\][\s\S]*--cert <file>/m);
    expect(seen).toEqual([]);
    expect(await send("--cert client.pem --key-file client.key")).toMatch(/^0$/m);
    expect(await send("--cert both.pem")).toMatch(/^0$/m);
    expect(seen).toHaveLength(2);
  });

  it("opens it for probes, replays and doctor too", async () => {
    const flags = "--ca ca.pem --cert client.pem --key-file client.key";
    expect(await run(`hookproof doctor ${secure()} ${flags}`)).toContain("answered 200");
    expect(await run(`hookproof replay last --secret-file secret.txt ${flags}`)).toContain("200");
    await run(`hookproof test ${secure()} --secret-file secret.txt --only 'signature-*' ${flags}`);
    expect(seen.length).toBeGreaterThan(5);
  });

  it("opens an application behind listen, and is for --forward-to alone", async () => {
    const listening = `hookproof listen --port 4412 --no-ui --forward-to https://localhost:${mutual.port}/in`;
    const forwarded = (flags: string) =>
      run(
        `${listening} ${flags} >told 2>&1 & until [ -s told ]; do sleep 0.05; done; hookproof send :4412 --data 1 -q --retries 0; kill %1; wait; cat told`,
      );
    expect(await forwarded("--ca ca.pem --cert client.pem --key-file client.key")).toMatch(/forwarded +200/);
    expect(seen).toHaveLength(1);
    expect(await forwarded("--insecure")).not.toMatch(/forwarded +200/);
    expect(seen).toHaveLength(1);
    for (const flag of ["--cert both.pem", "--key-file client.key", "--ca ca.pem", "--insecure"])
      expect(await run(`hookproof listen --port 4412 --no-ui ${flag}`)).toContain("is for --forward-to.");
  });

  it("goes with the events of an outbox", async () => {
    await run(`hookproof profile add closed --user --target ${secure()} --secret-file secret.txt`);
    const store = sqliteStore({ open: () => openSqlite(join(stage.folder, "work", "c.db")) });
    await createOutbox({
      store,
      listeners: { closed: { url: secure(), signer: hmacSigner({ secret: SECRET }) } },
    }).enqueue({ listener: "closed", payload: {} });
    await store.close?.();
    const flags = "--ca ca.pem --cert client.pem --key-file client.key --header 'X-Gateway: @value.txt'";
    const told = await run(`hookproof outbox work --outbox c.db --listener closed --drain ${flags}`);
    expect(told).toContain("delivered");
    expect(told).not.toContain(CREDENTIAL.slice(6));
    expect(seen.map((headers) => headers["x-gateway"])).toEqual([CREDENTIAL]);
    await run("hookproof profile remove closed --user");
  });

  it("may have a key with a passphrase, in a file", async () => {
    const passphrase = "long-passphrase";
    const key = createPrivateKey(readFileSync(join(stage.folder, "work", "client.key")));
    const locked = key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase });
    file("pass.txt", passphrase);
    file("locked.key", String(locked));
    const flags = "--cert client.pem --key-file locked.key";
    expect(await send(`${flags} --key-passphrase-file pass.txt`)).toMatch(/^0$/m);
    expect(await send(`${flags} --key-passphrase-file team.txt`)).toContain("error[CERTIFICATE_INVALID]");
    expect(await send(flags)).toContain("error[CERTIFICATE_INVALID]");
  });

  it.each([
    ["CERTIFICATE_INVALID", "--cert client.pem --key-file alone.key"],
    ["CERTIFICATE_INVALID", "--cert client.pem"],
    ["CERTIFICATE_INVALID", "--cert secret.txt --key-file client.key"],
    ["FILE_UNREADABLE", "--cert missing.pem"],
    ["USAGE", "--key-file client.key"],
  ])("%s: refuses %s", async (code, flags) => {
    expect(await send(flags)).toContain(`error[${code}]`);
    expect(seen).toEqual([]);
  });

  it("is refused over plain HTTP, where nobody asks for it", async () => {
    expect(await run(`hookproof send ${at(plain)} ${SIGNED} --data 1 --cert both.pem`)).toContain(
      "error[USAGE]",
    );
  });

  it("of a profile goes to its target and to no other origin", async () => {
    await run(
      `hookproof profile add mutual --target ${secure()} --secret-file secret.txt --ca ca.pem --cert client.pem --key-file client.key`,
    );
    expect(await run("hookproof send mutual --data 1 --retries 0")).toMatch(/^0$/m);
    const elsewhere = `https://127.0.0.1:${mutual.port}${PATH}`;
    expect(await run(`hookproof send ${elsewhere} --profile mutual ${SIGNED} --data 1`)).toMatch(/^6$/m);
    expect(seen).toHaveLength(1);
  });
});

describe("plain HTTP in development", () => {
  const target = `http://app:3000${PATH}`;

  it("goes to the names that are given, and to no other", async () => {
    const signed = (flags: string) =>
      run(`hookproof send ${target} --secret-file secret.txt --data 1 --dry-run ${flags}`);
    expect(await signed("")).toContain("error[TLS_REQUIRED]");
    expect(await signed("--plain-http other")).toContain("error[TLS_REQUIRED]");
    expect(await signed("--plain-http app")).toContain(`POST ${target}`);
    expect(await signed("--plain-http example.com")).toContain(
      'error[USAGE]  --plain-http cannot be "example.com"',
    );
  });

  it("stands in a profile, for each command that sends", async () => {
    await run(`hookproof profile add opened --target ${target} --plain-http app --secret-file secret.txt`);
    for (const command of ["send opened --data 1 --dry-run", "sign opened --data 1 --curl"])
      expect(await run(`hookproof ${command}`)).toContain(target);
    const tested = await run("hookproof test opened --only event-id-nil --timeout 2s");
    expect(tested).not.toContain("TLS_REQUIRED");
    await run("hookproof profile remove opened");
  });
});
