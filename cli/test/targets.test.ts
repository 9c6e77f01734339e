import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createEvent } from "hookproof";
import { openSqlite, sqliteStore } from "hookproof/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openStage, requireBuild, type Stage } from "../../test/support/transcript.js";

beforeAll(requireBuild);

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
beforeAll(async () => {
  [theirs, ours] = [await stranger(), await stranger()];
});
afterAll(() => {
  for (const server of servers) server.close();
});

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
  theirs.got.length = 0;
  ours.got.length = 0;
  await stage.run(`mkdir -p ../data; umask 077; printf '{"profiles":{"prod":{"target":"${ours.url}"}}}' > ../data/config.json
    printf 'cHJvZCdzIG93biBzZWNyZXQsIGZvciBubyBvbmUgZWxzZQ' > ../secret.txt
    hookproof secret set --profile prod --secret-file ../secret.txt`);
});
afterEach(() => stage.close());

/** What came of a command, and that nothing was signed for the stranger. */
async function refused(command: string): Promise<string> {
  const seen = (await stage.run(command)).join("\n");
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
    const seen = (await stage.run("hookproof send prod --data 1")).join("\n");
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
    await stage.run(`hookproof send ${theirs.url} --profile prod --data 1 --allow-origin ${theirs.origin}`);
    expect(theirs.got).toHaveLength(1);
    theirs.got.length = 0;
    expect(
      await refused(
        `hookproof send ${theirs.url} --profile prod --data 1 --allow-origin https://other.example`,
      ),
    ).toContain("SECRET_OTHER_ORIGIN");
  });

  it("and to none where it was stored for none, until the profile has a target", async () => {
    await stage.run("hookproof secret set --profile new --secret-file ../secret.txt");
    const send = `hookproof send ${theirs.url} --profile new --data 1`;
    expect(await refused(send)).toContain("was stored for no target");
    await stage.run(`hookproof profile add new --target ${theirs.url} --user`);
    await stage.run(send);
    expect(theirs.got).toHaveLength(1);
  });

  it("and not for a later target of its profile", async () => {
    const seen = await stage.run(`hookproof profile add prod --target ${theirs.url} --user`);
    expect(seen.join("\n")).toContain(`signs for ${ours.origin}, not for ${theirs.origin}.`);
    expect(await refused("hookproof send prod --data 1")).toContain("SECRET_OTHER_ORIGIN");
  });
});

describe("a configuration in a folder does not sign with what is not its own", () => {
  it("with the secret of the user's profile of the same name", async () => {
    project({ profiles: { prod: { target: theirs.url } } });
    expect(await refused("hookproof send prod --data 1")).toContain("error[SECRET_MISSING]");
    project({ profile: "prod", target: theirs.url });
    await stage.run("hookproof send --data 1"); // the profile is the user's, its target with it
    expect(theirs.got).toEqual([]);
    expect(ours.got).toHaveLength(1);
  });

  it("with a certificate authority, key store or outbox for the user's profile", async () => {
    project({ ca: "evil.pem", store: "keys", outbox: "evil.db", profiles: { prod: { ca: "evil.pem" } } });
    expect(await refused("hookproof send prod --data 1")).toContain("The target is missing");
    project({ ca: "evil.pem", store: "keys", outbox: "evil.db" });
    const settings = (await stage.run("hookproof config list --profile prod")).join("\n");
    expect(settings).toContain(ours.url);
    expect(settings).not.toMatch(/evil|keys/);
  });

  it("with a secret's file outside of that folder, a link included", async () => {
    for (const file of ["../secret.txt", "link.txt"]) {
      await stage.run("ln -sf ../secret.txt link.txt");
      project({ target: theirs.url, secretFiles: [file] });
      expect(await refused("hookproof send --data 1")).toContain("error[SECRET_FILE_OUTSIDE]");
    }
    await stage.run("hookproof send --data 1 --config hookproof.config.json");
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
    await stage.run(
      `HOOKPROOF_SECRET_FILE=../secret.txt HOOKPROOF_SECRET_ORIGIN=${theirs.origin} hookproof send --data 1`,
    );
    expect(theirs.got).toHaveLength(1);
  });

  it("with the password for another database", async () => {
    project({ outbox: "postgres://db.example.com/app" });
    const seen = (await stage.run("PGPASSWORD=secret hookproof outbox status")).join("\n");
    expect(seen).toContain("error[OUTBOX_HOST_REFUSED]");
  });
});

describe("an event of a file gives id and bytes, not a target", () => {
  it.each(["replay event.json --profile prod", "replay event.json --profile prod --new-id --yes"])(
    "%s goes to the profile's target",
    async (command) => {
      recorded(theirs.url);
      await refused(`hookproof ${command}`);
      expect(ours.got.map((headers) => typeof headers["webhook-signature"])).toEqual(["string"]);
    },
  );

  it("asks for a target where there is none, and signs for the recorded one by the rule only", async () => {
    recorded(theirs.url);
    expect(await refused("hookproof replay event.json")).toContain(`The file says ${theirs.url}`);
    for (const flags of ["", "--new-id --yes", "--times 2"])
      expect(
        await refused(`hookproof replay event.json --to-recorded-url --profile prod ${flags}`),
      ).toContain("SECRET_OTHER_ORIGIN");
    expect(
      await refused('HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof replay event.json --to-recorded-url'),
    ).toContain("SECRET_OTHER_ORIGIN");
    await stage.run("hookproof replay event.json --to-recorded-url --secret-file ../secret.txt");
    expect(theirs.got).toHaveLength(1);
  });

  it("sent to the letter, it is signed by nobody", async () => {
    recorded(theirs.url);
    await stage.run("hookproof replay event.json --exact");
    expect(theirs.got.map((headers) => headers["webhook-signature"])).toEqual([undefined]);
  });
});

describe("what the history remembers", () => {
  it("is signed again with the same secret of the environment, and not with another", async () => {
    await stage.run(`HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof send ${theirs.url} --data 1`);
    await stage.run('HOOKPROOF_SECRET="$(cat ../secret.txt)" hookproof replay last');
    expect(theirs.got).toHaveLength(2);
    theirs.got.length = 0;
    expect(
      await refused("HOOKPROOF_SECRET=another-secret-of-more-than-32-characters hookproof replay last"),
    ).toContain("SECRET_OTHER_ORIGIN");
  });

  it("is not signed for another target with the secret of the first one", async () => {
    await stage.run("hookproof send prod --data 1");
    expect(await refused(`hookproof replay last --target ${theirs.url} --profile prod`)).toContain(
      "SECRET_OTHER_ORIGIN",
    );
  });
});

describe("a local listener", () => {
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
    await stage.run(`hookproof profile add other --target ${theirs.url} --user`);
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
    const seen = (await stage.run("hookproof outbox work --outbox app.db --drain --listener prod")).join(
      "\n",
    );
    expect(seen).toContain("delivering to prod");
  });
});

describe("files with a private key for TLS", () => {
  it("are refused where others can read them", async () => {
    const seen = await stage.run(
      "printf x > cert.pem; printf x > key.pem; chmod 644 key.pem; hookproof listen --port 0 --no-ui --tls-cert cert.pem --tls-key key.pem",
    );
    expect(seen).toContain("! error[FILE_MODE_TOO_WIDE]  key.pem can be read by others.");
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
    expect(await stage.run("hookproof complete-words events show ''")).toEqual(["last", "ok-1"]);
  });
});
