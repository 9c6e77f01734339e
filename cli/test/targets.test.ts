import { generateKeyPairSync } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { createEvent, hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeWith, ROOT } from "../../test/kit/needs.js";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

beforeAll(requireBuild);

const SIGNER = hmacSigner({ secret: "a-secret-of-more-than-thirty-two-characters" });

/** A server of the wrong party: it notes what it is sent. */
interface Stranger {
  readonly url: string;
  readonly origin: string;
  readonly got: IncomingHttpHeaders[];
}

const servers: Server[] = [];

async function stranger(): Promise<Stranger> {
  const got: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    got.push(request.headers);
    request.resume().once("end", () => response.writeHead(200).end("{}"));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/api/v1/webhooks/incoming/lst_1`, origin, got };
}

let theirs: Stranger;
let ours: Stranger;
/** What each test begins with, made once. */
let template: Stage;
beforeAll(async () => {
  [theirs, ours] = [await stranger(), await stranger()];
  template = await openStage();
  await template.run(`mkdir -p ../data; umask 077; printf '{"profiles":{"prod":{"target":"${ours.url}"}}}' > ../data/config.json
    printf 'cHJvZCdzIG93biBzZWNyZXQsIGZvciBubyBvbmUgZWxzZQ' > ../secret.txt
    hookproof secret set --profile prod --secret-file ../secret.txt`);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await template.close();
});

/** One for all tests, emptied before each: what is a plain command runs in its one process. */
let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
beforeEach(() => {
  theirs.got.length = 0;
  ours.got.length = 0;
  for (const folder of [stage.folder, join(stage.folder, "work")])
    for (const name of readdirSync(folder))
      if (name !== "bin" && name !== "work") rmSync(join(folder, name), { recursive: true });
  fill(stage);
});
afterAll(() => stage.close());

function fill({ folder }: Stage): void {
  for (const name of ["data", "secret.txt"])
    cpSync(join(template.folder, name), join(folder, name), { recursive: true });
}

/** What came of a command, and that nothing was signed for the stranger. */
async function refused(command: string): Promise<string> {
  const seen = (await stage.runInOne(command)).join("\n");
  expect(theirs.got, seen).toEqual([]);
  return seen;
}

const project = (document: object) =>
  writeFileSync(join(stage.folder, "work", "hookproof.config.json"), JSON.stringify(document));

const recorded = (url: string) => {
  const { id, body } = createEvent({ type: "user.promoted", userId: "mallory" });
  const record = {
    type: "event",
    at: Date.now(),
    eventId: id,
    url,
    method: "hmac",
    headers: { "Content-Type": "application/json" },
    bodyBase64: Buffer.from(body).toString("base64"),
    outcome: "CONNECTION_FAILED",
  };
  writeFileSync(join(stage.folder, "work", "event.json"), JSON.stringify(record));
};

describe("a stored secret signs for the origin it was stored for, and says so", () => {
  it("to its own target", async () => {
    const seen = (await stage.runInOne("hookproof send prod --data 1")).join("\n");
    expect(seen).toContain(`(profile prod, for ${ours.origin})`);
    expect(ours.got).toHaveLength(1);
  });

  it.each([
    ["send", (url: string) => `hookproof send ${url} --profile prod --data 1`],
    ["send, a batch", (url: string) => `hookproof send ${url} --profile prod --data 1 --batch`],
    ["send, without sending", (url: string) => `hookproof send ${url} --profile prod --data 1 --dry-run`],
    ["sign", (url: string) => `hookproof sign ${url} --profile prod --data 1`],
    ["sign as curl", (url: string) => `hookproof sign ${url} --profile prod --data 1 --curl`],
    ["test", (url: string) => `hookproof test ${url} --profile prod`],
    [
      "with the variables of secret env",
      (url: string) => `eval "$(hookproof secret env --profile prod)"; hookproof send ${url} --data 1`,
    ],
  ])("not to another: %s", async (_, command) => {
    const seen = await refused(command(theirs.url));
    expect(seen).toContain("error[SECRET_OTHER_ORIGIN]");
    expect(seen).toMatch(/The secret sha256:[0-9a-f]{8}….* signs for/);
    expect(seen).toContain(`signs for ${ours.origin}, not for ${theirs.origin}.`);
    expect(seen).toContain(`--allow-origin ${theirs.origin}`);
    expect(seen).not.toMatch(/Webhook-Signature/i);
    expect(seen).toMatch(/\? 3$/);
  });

  it("to another that is allowed by name, and only that one", async () => {
    await stage.runInOne(
      `hookproof send ${theirs.url} --profile prod --data 1 --allow-origin ${theirs.origin}`,
    );
    expect(theirs.got).toHaveLength(1);
    theirs.got.length = 0;
    expect(
      await refused(
        `hookproof send ${theirs.url} --profile prod --data 1 --allow-origin https://other.example`,
      ),
    ).toContain("SECRET_OTHER_ORIGIN");
  });

  it("and to none where it was stored for none, until the profile has a target", async () => {
    await stage.runInOne("hookproof secret set --profile new --secret-file ../secret.txt");
    const send = `hookproof send ${theirs.url} --profile new --data 1`;
    expect(await refused(send)).toContain("was stored without a target");
    await stage.runInOne(`hookproof profile add new --target ${theirs.url} --user`);
    await stage.runInOne(send);
    expect(theirs.got).toHaveLength(1);
  });

  it("and not for a later target of its profile", async () => {
    const seen = await stage.runInOne(`hookproof profile add prod --target ${theirs.url} --user`);
    expect(seen.join("\n")).toContain(`signs for ${ours.origin}, not for ${theirs.origin}.`);
    expect(await refused("hookproof send prod --data 1")).toContain("SECRET_OTHER_ORIGIN");
  });
});

describe("a configuration in a folder does not sign with what is not its own", () => {
  it("with the secret of the user's profile of the same name", async () => {
    project({ profiles: { prod: { target: theirs.url } } });
    expect(await refused("hookproof send prod --data 1")).toContain("error[SECRET_MISSING]");
    project({ profile: "prod", target: theirs.url });
    await stage.runInOne("hookproof send --data 1"); // the profile is the user's, its target with it
    expect(theirs.got).toEqual([]);
    expect(ours.got).toHaveLength(1);
  });

  it("with a certificate authority, key store or outbox for the user's profile", async () => {
    project({ ca: "evil.pem", store: "keys", outbox: "evil.db", profiles: { prod: { ca: "evil.pem" } } });
    expect(await refused("hookproof send prod --data 1")).toContain("The target is missing");
    project({ ca: "evil.pem", store: "keys", outbox: "evil.db" });
    const settings = (await stage.runInOne("hookproof profile show --profile prod")).join("\n");
    expect(settings).toContain(ours.url);
    expect(settings).not.toMatch(/evil|keys/);
  });

  it("with a secret's file outside of that folder, a link included", async () => {
    for (const file of ["../secret.txt", "link.txt"]) {
      await stage.runInOne("ln -sf ../secret.txt link.txt");
      project({ target: theirs.url, secretFiles: [file] });
      expect(await refused("hookproof send --data 1")).toContain("error[SECRET_FILE_OUTSIDE]");
    }
    await stage.runInOne("hookproof send --data 1 --config hookproof.config.json");
    expect(theirs.got).toHaveLength(1);
  });

  it("with a secret of the environment that does not say whose it is", async () => {
    project({ target: theirs.url });
    expect(await refused('HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof send --data 1')).toContain(
      `HOOKPROOF_SECRET_ORIGIN=${theirs.origin}`,
    );
    expect(await refused("HOOKPROOF_SECRET_FILE=../secret.txt hookproof send --data 1")).toContain(
      "SECRET_OTHER_ORIGIN",
    );
    await stage.runInOne(
      `HOOKPROOF_SECRET_FILE=../secret.txt HOOKPROOF_SECRET_ORIGIN=${theirs.origin} hookproof send --data 1`,
    );
    expect(theirs.got).toHaveLength(1);
  });

  it("with the password for another database", async () => {
    project({ outbox: "postgres://db.example.com/app" });
    const seen = (await stage.runInOne("PGPASSWORD=secret hookproof outbox status")).join("\n");
    expect(seen).toContain("error[OUTBOX_HOST_REFUSED]");
  });

  it.each([
    "",
    "?host=127.0.0.2",
    "?port=7811",
    "?user=victim",
    "?password=x",
    "?sslmode=disable",
    "?sslkey=/etc/passwd",
    "?hostaddr=127.0.0.2",
    "?application_name=x&%68ost=127.0.0.2",
    "?options=-c%20a%3Db",
    "#host=127.0.0.2",
  ])("with the password for another database, of this machine and by a parameter: %j", async (parameters) => {
    const got: string[] = [];
    const database = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        got.push("asked");
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => database.listen(0, "127.0.0.1", () => resolve()));
    const { port } = database.address() as AddressInfo;
    try {
      // The parameters name the database that listens, where they name a port at all.
      const url = `postgres://127.0.0.1:${port}/app${parameters.replace("7811", String(port))}`;
      project({ outbox: url });
      const seen = (await stage.runInOne("PGPASSWORD=secret hookproof outbox status")).join("\n");
      expect(seen).toContain("error[OUTBOX_HOST_REFUSED]");
      expect(got).toEqual([]);
      project({ outbox: `postgres://127.0.0.1:${port}/app` });
      await stage.runInOne("PGPASSWORD=secret hookproof outbox status --config hookproof.config.json");
      expect(got).toContain("asked");
    } finally {
      database.close();
    }
  });

  it.each([
    "127.0.0.1",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "%2Ftmp%2Fevil",
    "127.0.0.1%2eevil.example",
    "",
  ])("with the password for another database, on a host such as %j", async (host) => {
    project({ outbox: `postgres://${host}/app` });
    const seen = (await stage.runInOne("PGPASSWORD=secret PGHOST=127.0.0.1 hookproof outbox status")).join(
      "\n",
    );
    expect(seen).toContain("error[OUTBOX_HOST_REFUSED]");
  });

  it("with a key or key store outside of that folder", async () => {
    await stage.runInOne(`mkdir -p ../theirs; hookproof keys generate --alg ES256 --kid mine --store ../store
      hookproof keys export mine --private --store ../store > ../key.json; chmod 600 ../key.json; ln -s ../key.json linked.json; ln -s ../store linked`);
    for (const settings of [
      { store: "../store" },
      { store: "linked" },
      { key: "../key.json" },
      { key: "linked.json" },
    ]) {
      project({ target: theirs.url, method: "jwt", ...settings });
      expect(await refused("hookproof send --data 1"), JSON.stringify(settings)).toContain(
        "error[SECRET_FILE_OUTSIDE]",
      );
    }
    project({ store: "../store" });
    expect((await stage.runInOne("hookproof keys rotate --alg ES256")).join("\n")).toContain(
      "error[SECRET_FILE_OUTSIDE]",
    );
  });
});

describe("a configuration in a folder has no token of the user's key made for another than its target", () => {
  const event = `-d '{"sub_id":{"format":"opaque","id":"a"},"events":{"https://a.example/b":{}}}'`;
  const victim = "https://victim.example/events";
  beforeEach(() => stage.runInOne("hookproof keys generate --alg ES256 --kid mine"));

  it.each([
    ["a scheme's audience", victim],
    ["an audience that is no URL", "a"],
  ])("%s", async (_, audience) => {
    for (const key of [{}, { key: "mine" }]) {
      project({ target: theirs.url, scheme: "set", issuer: "https://idp.example/", audience, ...key });
      for (const command of ["send", "send --dry-run"])
        expect(await refused(`hookproof ${command} ${event}`)).toContain("error[SECRET_OTHER_ORIGIN]");
      const shown: string[] = [];
      for (const trusted of ["--config hookproof.config.json", "--key mine", `--audience ${audience}`])
        shown.push(...(await stage.runInOne(`hookproof send ${event} ${trusted}`)));
      expect(theirs.got.splice(0), shown.join("\n")).toHaveLength(3);
    }
  });

  it("and has one made for its target", async () => {
    const audience = `${theirs.origin}/`;
    project({ target: theirs.url, scheme: "set", issuer: "https://idp.example/", audience, key: "mine" });
    await stage.runInOne(`hookproof send ${event}`);
    expect(theirs.got).toHaveLength(1);
  });
});

describe("what a folder's file names is a file of that folder", () => {
  const status = "hookproof outbox status";
  const asked = async (command: string, code: string) => {
    const seen = await refused(command);
    expect(seen, command).toContain(`error[${code}]`);
    return seen;
  };
  /** A file whose path reads as the stranger's address, as a repository can hold one. */
  const planted = async (url: string) => {
    const path = join(stage.folder, "work", url.replace("://", ":/"));
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "");
  };

  it("an outbox that a driver would take for a server", async () => {
    const host = theirs.origin.replace("http://", "");
    for (const scheme of ["http", "https", "libsql", "ws", "wss", "HTTP"]) {
      const url = `${scheme}://${host}/app.db`;
      await planted(url);
      project({ outbox: url });
      await asked(status, "OUTBOX_NOT_FOUND");
      await asked(`${status} --outbox ${url}`, "USAGE");
    }
    for (const outbox of [
      `${theirs.url}?authToken=x`,
      "file:../users.db",
      ":memory:",
      "\\\\host\\share\\a.db",
    ]) {
      project({ outbox });
      await asked(status, "OUTBOX_NOT_FOUND");
    }
  });

  it("an assistant's tools among them", async () => {
    const url = theirs.origin.concat("/app.db");
    await planted(url);
    project({ outbox: url, jwks: `${theirs.origin}/jwks.json` });
    const call = (name: string, input: object) =>
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } });
    const request = { headers: "Authorization: Bearer a.b.c", body: "{}" };
    writeFileSync(
      join(stage.folder, "work", "calls"),
      [
        call("show_outbox", {}),
        call("list_dead_letters", {}),
        call("show_attempts", { eventId: crypto.randomUUID() }),
        call("verify_request", request),
        "",
      ].join("\n"),
    );
    const seen = await stage.run("hookproof mcp < calls");
    expect(seen.filter((line) => /OUTBOX_NOT_FOUND|SECRET_FILE_OUTSIDE/.test(line))).toHaveLength(4);
    expect(theirs.got).toEqual([]);
  });

  it("a key set: its address is the user's to name", async () => {
    await stage.runInOne(
      "hookproof sign --data 1 https://localhost/api/v1/webhooks/incoming/a --secret-file ../secret.txt --curl > a.sh",
    );
    for (const jwks of [
      theirs.url,
      theirs.url.replace("http://", "http:"),
      "https://keys.example/jwks.json",
    ]) {
      project({ target: ours.url, jwks });
      const seen = await asked(`hookproof verify a.sh --url ${ours.url}`, "SECRET_FILE_OUTSIDE");
      expect(seen).toContain("only you may name an address");
      await asked("hookproof listen --port 0 --no-ui", "SECRET_FILE_OUTSIDE");
    }
    await stage.runInOne(`hookproof verify a.sh --url ${ours.url} --jwks ${theirs.url}`);
    project({ target: ours.url, jwks: `${theirs.url}` });
    await stage.runInOne(`hookproof verify a.sh --url ${ours.url} --config hookproof.config.json`);
  });

  it("a key set that stands in for the secret of this user's environment", async () => {
    await stage.runInOne(`hookproof keys generate --alg ES256 --kid k1 --store evil
      printf '{"keys":[' > jwks.json; hookproof keys export k1 --store evil >> jwks.json; printf ']}' >> jwks.json
      hookproof sign --data 1 ${ours.url} --key k1 --store evil --curl > a.sh`);
    project({ target: ours.url, jwks: "jwks.json" });
    const verify = `hookproof verify a.sh --url ${ours.url}`;
    for (const variable of [
      'HOOKPROOF_SECRET="$(cat ../secret.txt)"',
      "HOOKPROOF_SECRET_FILE=../secret.txt",
    ]) {
      const seen = await refused(`${variable} ${verify}`);
      expect(seen).toMatch(/checked with {4}sha256:/);
      expect(seen).toMatch(/\? 7$/);
      expect(await refused(`${variable} ${verify} --jwks jwks.json`)).toContain("would accept");
    }
    const seen = await refused(verify);
    expect(seen).toMatch(/checked with {4}key set .*jwks\.json {2}\(hookproof\.config\.json: jwks\)/);
    expect(seen).toContain("would accept");
  });

  it("a certificate, and a key store with a link to the user's own keys", async () => {
    await stage.runInOne(`hookproof keys generate --alg ES256 --kid mine --store ../store
      mkdir -m 700 keys; ln -s ../../store/keys.json keys/keys.json; printf x > ../ca.pem`);
    project({ target: theirs.url, method: "jwt", store: "keys" });
    expect(await asked("hookproof send --data 1", "SECRET_FILE_OUTSIDE")).toContain(
      "keys.json in it leads out",
    );
    await asked("hookproof keys list", "SECRET_FILE_OUTSIDE");
    project({ target: theirs.url, ca: "../ca.pem" });
    await asked("hookproof doctor", "SECRET_FILE_OUTSIDE");
  });

  it("a link that leads nowhere yet, and one next to a database", async () => {
    project({ outbox: "app.db" });
    await stage.runInOne("ln -s ../made.db app.db");
    await asked("hookproof outbox create", "OUTBOX_OUTSIDE");
    await stage.runInOne("rm app.db; hookproof outbox create; printf 'mine, and to be kept' > ../mine");
    for (const end of ["wal", "shm", "journal"]) {
      await stage.runInOne(`rm -f app.db-*; ln -s ../mine app.db-${end}`);
      await asked(status, "OUTBOX_OUTSIDE");
      await asked(`${status} --outbox app.db`, "OUTBOX_OUTSIDE");
      expect((await stage.runInOne("cat ../mine; ls ..")).join(" ")).toMatch(
        /^mine, and to be kept(?!.*made\.db)/,
      );
    }
  });

  it("and no text with a NUL", async () => {
    for (const name of ["outbox", "store", "key", "jwks", "ca", "target"]) {
      project({ target: ours.url, [name]: "a\0b" });
      expect(await asked(status, "CONFIG_INVALID")).toContain(`${name} must not hold a NUL character`);
    }
    project({ target: ours.url, secretFiles: ["a\0b"] });
    await asked(status, "CONFIG_INVALID");
  });

  it("nor does a file of headers, which names no file at all", async () => {
    await stage.runInOne("printf 'mine, and to be kept' > ../mine; chmod 600 ../mine");
    for (const named of ["../../mine", "../mine", "own.txt"]) {
      await stage.runInOne(
        `umask 077; cp ../secret.txt own.txt; printf 'X-Team: a\\nX-Npm: @${named}\\n' > headers.txt`,
      );
      project({ target: theirs.url, secretFiles: ["own.txt"], headerFiles: ["headers.txt"] });
      expect(await asked("hookproof send --data 1", "HEADER_INVALID")).toContain('"X-Npm" of a file');
      await asked("hookproof doctor", "HEADER_INVALID");
      await asked(`hookproof send ${theirs.url} --data 1 --header @headers.txt`, "HEADER_INVALID");
    }
    // The command line may name one.
    await stage.runInOne(
      `hookproof send ${ours.url} --secret-file own.txt --data 1 --header 'X-Npm: @../mine'`,
    );
    expect(ours.got.map((headers) => headers["x-npm"])).toEqual(["mine, and to be kept"]);
  });

  it("nor does a captured command name others: a device, or a file of this user's", async () => {
    for (const name of ["../secret.txt", "/dev/zero", "link.txt", "."]) {
      await stage.runInOne(`ln -sf ../secret.txt link.txt`);
      writeFileSync(join(stage.folder, "work", "a.sh"), `curl --data-binary @${name} ${ours.url}`);
      await asked("hookproof verify a.sh --secret-file ../secret.txt", "FILE_UNREADABLE");
    }
  });
});

describe("an event of a file gives id and bytes, not a target", () => {
  it.each(["replay event.json --profile prod --yes", "replay event.json --profile prod --new-id --yes"])(
    "%s goes to the profile's target",
    async (command) => {
      recorded(theirs.url);
      await refused(`hookproof ${command}`);
      expect(ours.got.map((headers) => typeof headers["webhook-signature"])).toEqual(["string"]);
    },
  );

  it("asks for a target where there is none, and signs for the recorded one by the rule only", async () => {
    recorded(theirs.url);
    expect(await refused("hookproof replay event.json --yes")).toContain(`The file says ${theirs.url}`);
    for (const flags of ["", "--new-id", "--times 2"])
      expect(
        await refused(`hookproof replay event.json --to-recorded-url --profile prod --yes ${flags}`),
      ).toContain("SECRET_OTHER_ORIGIN");
    expect(
      await refused(
        'HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof replay event.json --to-recorded-url --yes',
      ),
    ).toContain("SECRET_OTHER_ORIGIN");
    await stage.runInOne("hookproof replay event.json --to-recorded-url --yes --secret-file ../secret.txt");
    expect(theirs.got).toHaveLength(1);
  });

  it("sent to the letter, it goes to a URL with one reading only, and in plain text to this machine only", async () => {
    const { host } = new URL(theirs.origin);
    for (const [url, code] of [
      [`http://hooks.example.com@${host}/x`, "[USAGE]  The recorded URL"],
      [`http://hooks.example.com:443@${host}/x`, "[USAGE]  The recorded URL"],
      [`http://${host}\\@hooks.example.com/x`, "[USAGE]  The recorded URL"],
      [`http:///${host}/x`, "[USAGE]  The recorded URL"],
      [`${theirs.url}#@hooks.example.com/`, "[USAGE]  The recorded URL"],
      [`http://${host}/a\r\nX: y`, "[USAGE]  The recorded URL"],
      ["http://203.0.113.1/x", "TLS_REQUIRED"],
      ["http://169.254.169.254.example.com/x", "TLS_REQUIRED"],
    ]) {
      recorded(String(url));
      expect(await refused("hookproof replay event.json --exact --yes"), String(url)).toContain(String(code));
    }
    expect(theirs.got).toEqual([]);
  });

  it("sent to the letter, it is signed by nobody", async () => {
    recorded(theirs.url);
    await stage.runInOne("hookproof replay event.json --exact --yes");
    expect(theirs.got.map((headers) => headers["webhook-signature"])).toEqual([undefined]);
  });
});

describe("what an event of a file claims decides nothing", () => {
  const claims = (more: object) => {
    const path = join(stage.folder, "work", "event.json");
    const record = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...record, outcome: "accepted", status: 200, ...more }));
  };
  const nothingRan = async (command: string) => {
    const seen = await refused(`hookproof replay ${command}`);
    expect(ours.got, seen).toEqual([]);
    expect(seen).toMatch(/error\[USAGE\] {2}Your history has no such event/);
    expect(seen).toContain("Add --yes");
    expect(seen).toMatch(/\? 2$/);
  };

  it("an event that is not this user's is asked for, whatever the way", async () => {
    recorded(theirs.url);
    claims({ v: 1, credential: { kind: "profile", profile: "prod" }, own: true, source: "history" });
    for (const flags of ["", "--same-id", "--times 3", "--no-input", "--json", "--to-recorded-url"]) {
      const seen = await refused(`hookproof replay event.json --profile prod ${flags}`);
      expect(seen).toContain("Your history has no such event");
    }
    await nothingRan("- --profile prod < event.json");
    await nothingRan("event.json --exact");
  });

  it("nor is it this user's by the id alone", async () => {
    await stage.runInOne("hookproof send prod --data 1; hookproof events export last --out mine.json");
    ours.got.length = 0;
    const mine = JSON.parse(readFileSync(join(stage.folder, "work", "mine.json"), "utf8")) as {
      eventId: string;
    };
    recorded(theirs.url);
    claims({ eventId: mine.eventId });
    await nothingRan("event.json --profile prod");
    await stage.runInOne("hookproof replay mine.json --profile prod");
    expect(ours.got).toHaveLength(1);
  });

  it("nor is its request this user's, sent to the letter, with another URL, headers or bytes", async () => {
    await stage.runInOne("hookproof send prod --data 1; hookproof events export last --out mine.json");
    ours.got.length = 0;
    const mine = readFileSync(join(stage.folder, "work", "mine.json"), "utf8");
    for (const other of [
      { url: theirs.url },
      { headers: { "Content-Type": "text/plain" } },
      { sentBase64: Buffer.from("evil").toString("base64") },
    ]) {
      writeFileSync(join(stage.folder, "work", "event.json"), mine);
      claims(other);
      const seen = await refused("hookproof replay event.json --exact");
      expect(seen).toContain("Your history has no such request of the event");
      expect(ours.got, seen).toEqual([]);
    }
    await stage.runInOne("hookproof replay mine.json --exact");
    expect(ours.got).toHaveLength(1);
  });

  it("nor is a status or a time of a strange type read", async () => {
    for (const claim of [
      { status: { toString: 1 } },
      { status: "200" },
      { status: 1.5 },
      { at: 1e300 },
      { at: -1e300 },
    ]) {
      recorded(theirs.url);
      claims(claim);
      for (const command of ["events diff event.json event.json", "replay event.json --profile prod --yes"])
        expect(await refused(`hookproof ${command}`), JSON.stringify(claim)).toContain(
          "error[EXPORT_INVALID]",
        );
    }
    await stage.runInOne("hookproof send prod --data 1");
    const history = join(stage.folder, "data", "history.jsonl");
    const line = readFileSync(history, "utf8");
    writeFileSync(history, line + line.replace(/"at":[0-9]+/, '"at":1e300'));
    const listed = (await stage.runInOne("hookproof events list --json")).join("\n");
    expect(listed).not.toMatch(/INTERNAL|RangeError|\? 70/);
    expect(listed.match(/"eventId"/g)).toHaveLength(1);
  });

  it("nor an outcome: nobody knows whether it had arrived", async () => {
    for (const outcome of ["accepted", "duplicate", "REQUEST_REFUSED"]) {
      recorded(theirs.url);
      claims({ outcome, scheme: { name: "set" } });
      const seen = await stage.runInOne("hookproof replay event.json --profile prod --yes --quiet");
      expect(seen.join("\n")).toContain("your history does not say");
      expect(seen.join("\n")).not.toContain("? 7");
    }
    // At another listener this user's own history does not say it either.
    await stage.runInOne("hookproof send prod --data 1");
    const other = `hookproof replay last --target ${theirs.url} --secret-file ../secret.txt --quiet`;
    expect((await stage.runInOne(other)).join("\n")).toContain("your history does not say");
    expect((await stage.runInOne("hookproof replay last --quiet")).join("\n")).toContain("accepted again");
  });

  it("nor a scheme, which would choose a key of this user's to sign with", async () => {
    await stage.runInOne("hookproof keys generate --alg ES256 --kid mine");
    recorded(theirs.url);
    const audience = "https://victim.example/";
    claims({ method: "jwt", scheme: { name: "set", issuer: "https://idp.example/", audience } });
    const replay = "hookproof replay event.json --to-recorded-url --yes";
    expect(await refused(replay)).toContain("error[SECRET_MISSING]");
    expect(await refused(`${replay} --new-id`)).toContain("error[SECRET_MISSING]");
    expect(await refused(`${replay} --profile prod`)).toContain("error[SECRET_OTHER_ORIGIN]");
    // Nor does an event of the history, under another URL, give its own.
    await stage.runInOne(
      `hookproof send ${ours.url} --scheme set --issuer https://idp.example/ --audience ${audience} --key mine -d '{"sub_id":{"format":"opaque","id":"a"},"events":{"https://a.example/b":{}}}'; hookproof events export last --out mine.json`,
    );
    expect(ours.got).toHaveLength(1);
    const path = join(stage.folder, "work", "mine.json");
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(ours.url, theirs.url));
    expect(await refused(replay.replace("event", "mine"))).toContain("error[SECRET_MISSING]");
  });

  it("nor do its headers and bytes get into the history", async () => {
    recorded(theirs.url);
    claims({ headers: { "X-Evil": "1" }, sentBase64: Buffer.from("evil").toString("base64"), outcome: "X" });
    await stage.runInOne("hookproof replay event.json --profile prod --yes");
    ours.got.length = 0;
    const seen = (await stage.runInOne("cat ../data/history.jsonl; hookproof replay last --exact")).join(
      "\n",
    );
    expect(seen).not.toMatch(/X-Evil|ZXZpbA|"outcome":"X"/);
    expect(ours.got).toHaveLength(1);
    expect(ours.got[0]).not.toHaveProperty("x-evil");
  });
});

describe("what the history remembers", () => {
  it("is signed again with the same secret of the environment, and not with another", async () => {
    await stage.runInOne(`HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof send ${theirs.url} --data 1`);
    await stage.runInOne('HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof replay last');
    expect(theirs.got).toHaveLength(2);
    theirs.got.length = 0;
    expect(
      await refused("HOOKPROOF_SECRET=another-secret-of-more-than-32-characters hookproof replay last"),
    ).toContain("SECRET_OTHER_ORIGIN");
  });

  it("is not signed for another target with the secret of the first one", async () => {
    await stage.runInOne("hookproof send prod --data 1");
    expect(await refused(`hookproof replay last --target ${theirs.url} --profile prod`)).toContain(
      "SECRET_OTHER_ORIGIN",
    );
  });
});

describe("a local listener", () => {
  // It serves until its stage is closed.
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
    fill(stage);
  });
  afterEach(() => stage.close());

  it("has a secret of its own where the profile's is for another target", async () => {
    await stage.run(`hookproof profile add far --target https://tenant.example.com/api/v1/webhooks/incoming/lst_1 --user
      hookproof secret set --profile far --secret-file ../secret.txt`);
    await stage.run("hookproof listen --profile far &");
    const session = (await stage.run("cat ../data/sessions/4400.json; cat ../secret.txt")).join("\n");
    const { secret } = JSON.parse(session.split("\n")[0] ?? "") as { secret: string };
    expect(session.split("\n")).not.toContain(secret);
    expect((await stage.run("hookproof send :4400 --data 1 --quiet | tail -1")).join()).toContain("200");
    // A secret of the environment that belongs elsewhere does not get in the way.
    const env = 'eval "$(hookproof secret env --profile far)"';
    expect((await stage.run(`${env}; hookproof send :4400 --data 1 --quiet | tail -1`)).join()).toContain(
      "200",
    );
  });
});

describe("a worker for several listeners", () => {
  beforeEach(async () => {
    await stage.runInOne(`hookproof profile add other --target ${theirs.url} --user`);
    const path = join(stage.folder, "work", "app.db");
    mkdirSync(join(stage.folder, "work"), { recursive: true });
    const store = sqliteStore({ open: () => openSqlite(path, { from: import.meta.url }) });
    await store.close();
  });

  it.each([
    'HOOKPROOF_SECRET="$(cat ../secret.txt)"',
    "HOOKPROOF_SECRET_FILE=../secret.txt",
    "HOOKPROOF_TARGET=http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1",
  ])("refuses what is for one target: %s", async (variable) => {
    const seen = await refused(`${variable} hookproof outbox work --outbox app.db --drain`);
    expect(seen).toMatch(
      /error\[USAGE\] {2}HOOKPROOF_(?:SECRET|SECRET_FILE|TARGET) is for one target, .* other, prod/,
    );
    expect(seen).toContain("hookproof secret set --profile <name>");
  });

  it("delivers to each with its own", async () => {
    const seen = (await stage.runInOne("hookproof outbox work --outbox app.db --drain --listener prod")).join(
      "\n",
    );
    expect(seen).toContain("delivering to prod");
  });
});

describe("a batch for several listeners", () => {
  it("signs for none of them with a secret that is typed for one target", async () => {
    await stage.runInOne(`hookproof profile add other --target ${theirs.url} --user`);
    const line = (listener: string) => JSON.stringify({ listener, payload: { a: 1 } });
    writeFileSync(join(stage.folder, "work", "events.jsonl"), `${line("prod")}\n${line("other")}\n`);
    const seen = await refused(
      "hookproof send --batch --by-listener -d @events.jsonl --secret-file ../secret.txt",
    );
    expect(seen).toContain("error[USAGE]  --secret-file is for one target");
    expect(seen).toContain("hookproof secret set --profile <name>");
    expect(ours.got).toEqual([]);
  });
});

describe("an outbox and its listeners, of two configuration files", () => {
  const work = "hookproof outbox work --drain";
  const event = async (path: string, listener: string) => {
    const store = sqliteStore({ open: () => openSqlite(path) });
    const listeners = {
      [listener]: { url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1", signer: SIGNER },
    };
    await createOutbox({ store, listeners }).enqueue({ listener, payload: { type: "user.promoted" } });
    await store.close();
  };
  const folder = (name: string) => join(stage.folder, "work", name);
  const nothingSent = async (command: string, code: string) => {
    const seen = (await stage.runInOne(command)).join("\n");
    expect(seen).toContain(`error[${code}]`);
    expect([...ours.got, ...theirs.got], seen).toEqual([]);
  };

  it("a folder's events are not signed with the user's secret", async () => {
    await event(folder("evil.db"), "prod");
    for (const document of [
      { profile: "x", profiles: { x: { outbox: "./evil.db" } } },
      { outbox: "./evil.db" },
      { profile: "x", profiles: { x: { outbox: "./evil.db", ca: "x.pem" } } },
    ]) {
      project(document);
      await nothingSent(work, "OUTBOX_LISTENER_REFUSED");
      await nothingSent(`${work} --listener prod`, "OUTBOX_LISTENER_REFUSED");
      await nothingSent(`HOOKPROOF_TARGET=${ours.url} ${work} --listener prod`, "OUTBOX_LISTENER_REFUSED");
    }
    // The user's own profile stays out where the folder's file has one of its own, too.
    project({ outbox: "./evil.db", profiles: { own: { target: theirs.url, secretFiles: ["own.txt"] } } });
    await stage.runInOne("umask 077; cp ../secret.txt own.txt");
    expect((await stage.runInOne(work)).join("\n")).toContain("delivering to own");
    expect(ours.got).toEqual([]);
  });

  it("nor to the user's own target with a secret of the environment or a key of the user's store", async () => {
    await event(folder("evil.db"), "x");
    await stage.runInOne("hookproof keys generate --alg ES256 --kid mine");
    project({ profile: "x", profiles: { x: { outbox: "./evil.db", target: ours.url } } });
    const env = 'eval "$(hookproof secret env --profile prod)"';
    await nothingSent(`${env}; ${work}`, "OUTBOX_LISTENER_REFUSED");
    await nothingSent(
      `HOOKPROOF_SECRET_FILE=../secret.txt HOOKPROOF_SECRET_ORIGIN=${ours.origin} ${work}`,
      "OUTBOX_LISTENER_REFUSED",
    );
    for (const key of [{}, { key: "mine" }]) {
      project({
        profile: "x",
        profiles: { x: { outbox: "./evil.db", target: ours.url, method: "jwt", ...key } },
      });
      await nothingSent(work, "OUTBOX_LISTENER_REFUSED");
    }
  });

  it("the user's events go to no folder's listener", async () => {
    await event(join(stage.folder, "users.db"), "offboarding");
    await stage.runInOne(`umask 077; cp ../secret.txt own.txt
      printf '{"outbox":"${stage.folder}/users.db","profiles":{"prod":{"target":"${ours.url}"}}}' > ../data/config.json`);
    project({ profiles: { offboarding: { target: theirs.url, secretFiles: ["own.txt"] } } });
    await refused(work);
    await refused(`${work} --listener offboarding`);
    // An outbox outside of the folder is none of the folder's.
    await stage.runInOne("ln -s ../users.db linked.db");
    for (const outbox of ["../users.db", "linked.db", join(stage.folder, "users.db")]) {
      project({ outbox, profiles: { offboarding: { target: theirs.url, secretFiles: ["own.txt"] } } });
      expect(await refused(work)).toContain("error[OUTBOX_OUTSIDE]");
    }
    // Nor does a folder's profile stand in for the user's of the same name.
    project({ profiles: { prod: { target: theirs.url, secretFiles: ["own.txt"] } } });
    expect(await refused(`${work} --outbox ../users.db`)).toContain("error[OUTBOX_LISTENER_REFUSED]");
  });

  it("nor do those of a database of this machine, which no folder holds", async () => {
    await stage.runInOne("umask 077; cp ../secret.txt own.txt");
    for (const host of ["127.0.0.1:9", "localhost:9"]) {
      const outbox = `postgres://${host}/app`;
      project({ outbox, profiles: { own: { target: theirs.url, secretFiles: ["own.txt"] } } });
      await nothingSent(work, "OUTBOX_HOST_REFUSED");
      await nothingSent(`${work} --listener own`, "OUTBOX_HOST_REFUSED");
      for (const trusted of ["--config hookproof.config.json", `--outbox ${outbox} --listener own`])
        await nothingSent(`${work} ${trusted}`, "OUTBOX_NOT_FOUND");
    }
  });

  it("meet where the user names the outbox or the configuration", async () => {
    await event(folder("evil.db"), "prod");
    project({ profile: "x", profiles: { x: { outbox: "./evil.db" } } });
    expect((await stage.runInOne(`${work} --outbox evil.db`)).join("\n")).toContain("1 delivered");
    expect(ours.got).toHaveLength(1);
    await event(folder("evil.db"), "prod");
    expect((await stage.runInOne(`${work} --config hookproof.config.json`)).join("\n")).toContain(
      "1 delivered",
    );
  });
});

describeWith(...ROOT)("a secret that belongs to another user of the machine", () => {
  it.each([
    ["a stored one", "chown 65534 ../data/secrets/prod.json", "hookproof send prod --data 1"],
    ["its folder", "chown 65534 ../data/secrets", "hookproof send prod --data 1"],
    ["the data folder", "chown 65534 ../data", "hookproof send prod --data 1"],
    ["to show it", "chown 65534 ../data/secrets/prod.json", "hookproof secret show --profile prod"],
    ["a file", "chown 65534 ../secret.txt", "hookproof send prod --data 1 --secret-file ../secret.txt"],
    [
      "a file of a profile",
      `umask 077; cp ../secret.txt own.txt; chown 65534 own.txt; printf '{"target":"ours","secretFiles":["own.txt"]}' > hookproof.config.json`,
      "hookproof sign --data 1",
    ],
    [
      "a key",
      "hookproof keys generate --alg ES256 --kid k --store ../store; (umask 077; hookproof keys export k --private --store ../store > ../key.json); chown 65534 ../key.json",
      "hookproof send prod --data 1 --key ../key.json",
    ],
    [
      "a key to take in",
      "hookproof keys generate --alg ES256 --kid k --store ../store; (umask 077; hookproof keys export k --private --store ../store > ../key.json); chown 65534 ../key.json",
      "hookproof keys import ../key.json --store ../other",
    ],
    [
      "a client secret",
      "(umask 077; printf x > ../client.txt); chown 65534 ../client.txt",
      "hookproof service token --client-secret-file ../client.txt",
    ],
    [
      "a key for TLS",
      "(umask 077; printf x > cert.pem; printf x > key.pem); chown 65534 key.pem",
      "hookproof listen --port 0 --no-ui --tls-cert cert.pem --tls-key key.pem",
    ],
  ])("is refused: %s", async (_, prepare, command) => {
    await stage.runInOne(prepare);
    const seen = (await stage.runInOne(command)).join("\n");
    expect(seen).toContain("error[FILE_OWNER_OTHER]");
    expect(seen).toContain("(uid 65534)");
    expect(ours.got).toEqual([]);
  });
});

describe("files with a private key for TLS", () => {
  it("are refused where others can read them", async () => {
    const seen = await stage.runInOne(
      "printf x > cert.pem; printf x > key.pem; chmod 644 key.pem; hookproof listen --port 0 --no-ui --tls-cert cert.pem --tls-key key.pem",
    );
    expect(seen).toContain("! error[FILE_MODE_TOO_WIDE]  --tls-key: key.pem can be read by others.");
  });
});

describe("completion", () => {
  it("offers no word that a shell would read as more than a word", async () => {
    const history = ["ok-1", "$(touch mark)", "`touch mark`", "a;b", "a b", "a'b", "a&b", "~x", "a*"].map(
      (eventId) =>
        JSON.stringify({
          v: 1,
          at: Date.now(),
          eventId,
          url: theirs.url,
          method: "hmac",
          headers: {},
          bodyBase64: "",
          outcome: "accepted",
          credential: { kind: "environment" },
        }),
    );
    writeFileSync(join(stage.folder, "data", "history.jsonl"), `${history.join("\n")}\n`, { mode: 0o600 });
    expect(await stage.runInOne("hookproof complete-words events show ''")).toEqual(["last", "ok-1"]);
  });
});

describe("a key store outside of the folder that names it", () => {
  it("is not looked into to complete a word", async () => {
    await stage.runInOne("hookproof keys generate --alg ES256 --kid mine --store ../store");
    project({ store: "../store" });
    expect(await stage.runInOne("hookproof complete-words keys show ''")).not.toContain("mine");
    project({ store: "keys" });
    await stage.runInOne("hookproof keys generate --alg ES256 --kid theirs");
    expect(await stage.runInOne("hookproof complete-words keys show ''")).toContain("theirs");
  });
});

describe("a command to paste, with names of a cloned folder", () => {
  it("is one that a shell takes as words", async () => {
    const name = "s;touch pwned;'x";
    writeFileSync(join(stage.folder, "work", name), "a-secret-of-more-than-thirty-two-characters", {
      mode: 0o644,
    });
    project({ target: ours.url, secretFiles: [name] });
    const seen = await refused("hookproof send --data 1");
    const [, hint = ""] = /(chmod 600 .*?), or give it/.exec(seen) ?? [];
    expect(hint).toContain("touch pwned");
    await stage.run(hint);
    expect(readdirSync(join(stage.folder, "work"))).not.toContain("pwned");
    expect((await stage.runInOne("hookproof send --data 1")).join("\n")).not.toContain("FILE_MODE_TOO_WIDE");

    await stage.run(
      "hookproof keys generate --alg ES256 --store 'k;touch pwned' > keys.txt 2>&1; chmod 755 'k;touch pwned'",
    );
    project({ target: ours.url, method: "jwt", store: "k;touch pwned", baseUrl: ours.origin });
    const exposed = await refused("hookproof send --data 1 --retries 0");
    await stage.run(/chmod 700 .*?(?=\.?$)/m.exec(exposed)?.[0] ?? "no command");
    for (const text of [readFileSync(join(stage.folder, "work", "keys.txt"), "utf8")])
      await stage.run(
        /hookproof jwks serve .*?(?= {3})/.exec(text)?.[0].replace("jwks serve", "keys list") ?? "no",
      );
    expect(readdirSync(join(stage.folder, "work"))).not.toContain("pwned");
  });

  it("nor does a key's file or a target's host end one", async () => {
    const pasted = async (words: RegExp, seen: string) => {
      const [command = "no command"] = words.exec(seen) ?? [];
      expect(command).toContain("touch");
      await stage.run(`echo ${command}`);
      expect(readdirSync(join(stage.folder, "work"))).not.toContain("pwned");
    };
    const name = "k;touch pwned;.pem";
    const { privateKey } = generateKeyPairSync("ed25519");
    const sealed = {
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "long enough",
    } as const;
    writeFileSync(join(stage.folder, "work", name), privateKey.export(sealed), { mode: 0o600 });
    project({ target: ours.url, method: "jwt", key: name, baseUrl: ours.origin });
    const encrypted = await refused("hookproof send --data 1");
    await pasted(/openssl pkey .*(?=, or)/, encrypted);
    await pasted(/hookproof keys import .*(?= --key-passphrase-file)/, encrypted);
    writeFileSync(join(stage.folder, "work", name), privateKey.export({ type: "pkcs8", format: "pem" }));
    await pasted(/--key .*(?= --kid)/, await refused("hookproof send --data 1"));

    // A URL's host may have signs of a shell, as may its path.
    project({ target: "https://a;{touch,pwned};.example.com/api/v1/webhooks/incoming/x" });
    const other = await refused(
      "HOOKPROOF_SECRET=a-secret-of-more-than-thirty-two-characters hookproof send --data 1",
    );
    expect(other).toContain("error[SECRET_OTHER_ORIGIN]");
    await pasted(/HOOKPROOF_SECRET_ORIGIN=.*(?=, or:)/, other);
    await pasted(/--allow-origin .*/, other);
  });
});
