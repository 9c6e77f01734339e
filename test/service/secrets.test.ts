import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Decrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from "age-encryption";
import { fixedClock } from "hookproof/testing";
import type { Fixture, Service } from "hookproof-service";
import { afterAll, describe, expect, it } from "vitest";
import { openSecrets } from "../../service/src/secrets/open-secrets.js";
import { openDatabase } from "../../service/src/storage/database.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { hasPython, startFakeS3 } from "./fake-s3.js";
import { ask, startService } from "./running-service.js";

const START = Date.parse("2026-01-01T00:00:00Z");
const folder = mkdtempSync(join(tmpdir(), "hookproof-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);

const FIXTURE: Fixture = {
  users: [
    { id: "ada", displayName: "Ada", email: "Ada@example.com" },
    { id: "bob", displayName: "Bob", email: "bob@example.com" },
  ],
  secrets: [
    { id: "once", creatorUserId: "ada", text: "hunter2", views: 1 },
    { id: "always", creatorUserId: "ada", text: "a: 1", inputFormat: "SECRET_INPUT_FORMAT_YAML" },
    {
      id: "internal",
      creatorUserId: "ada",
      access: "INTERNAL",
      allowedUserIds: ["bob"],
      text: "for bob",
      views: 3,
    },
    { id: "burned", creatorUserId: "ada", text: "gone", views: 0 },
    { id: "expires", creatorUserId: "ada", text: "soon gone", expiresAt: "2026-01-01T01:00:00Z" },
    { id: "revoked", creatorUserId: "ada", text: "taken back", revokedAt: "2025-12-31T00:00:00Z" },
    {
      id: "file",
      creatorUserId: "ada",
      file: {
        filename: 'r\u00e9sum\u00e9 "1".age',
        contentBase64: Buffer.from([0, 1, 2, 255]).toString("base64"),
      },
      views: 2,
    },
  ],
};

const start = (options = {}) => startService({ fixture: FIXTURE, clock: fixedClock(START), ...options });

async function view(service: Service, id: string, given: { as?: string; to?: unknown } = {}) {
  const { as, to } = { as: "ada", to: recipient, ...given };

  const token = await service.token({ role: "member", userId: as });
  return ask(service, "POST", `/api/v1/secrets/${id}/view`, {
    body: { readerRecipient: to },
    headers: { Authorization: `Bearer ${token}` },
  });
}

async function audit(service: Service, filter: object = {}) {
  const { body } = await ask(service, "POST", "/api/v1/search/secrets-admin/audit_events", { body: filter });
  return body.list as {
    activity_name: string;
    actor: { user: { uid: string } };
    src_endpoint: { ip: string };
  }[];
}

const activities = async (service: Service, filter: object) =>
  (await audit(service, filter)).map(({ activity_name: name }) => name);

async function read(encryptedContent: string, key = identity): Promise<string> {
  const reader = new Decrypter();
  reader.addIdentity(key);
  return reader.decrypt(new Uint8Array(Buffer.from(encryptedContent, "base64")), "text");
}

describe("viewing a text secret (4.1)", () => {
  itWith("age", hasTool("age", "--version"))("gives what the age program reads", async () => {
    const made = execFileSync("age-keygen", { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    writeFileSync(join(folder, "identity"), made, { mode: 0o600 });
    const to = /# public key: (age1\S+)/.exec(made)?.[1];
    const { status, body } = await view(await start(), "always", { to });
    expect(status).toBe(200);
    const text = execFileSync("age", ["-d", "-i", join(folder, "identity")], {
      input: Buffer.from(body.encryptedContent, "base64"),
      encoding: "utf8",
    });
    expect(text).toBe("a: 1");
    expect(body).toMatchObject({
      createdAt: "2026-01-01T00:00:00.000Z",
      creatorUserId: "ada",
      filename: "",
      inputFormat: "SECRET_INPUT_FORMAT_YAML",
      secretType: "SECRET_TYPE_TEXT",
      viewsRemaining: -1,
    });
    expect(body.downloadUrl).toBeUndefined();
  });

  it("encrypts to a hybrid recipient, which age-encryption reads again", async () => {
    const hybrid = await generateHybridIdentity();
    const { body } = await view(await start(), "always", { to: await identityToRecipient(hybrid) });
    expect(await read(body.encryptedContent, hybrid)).toBe("a: 1");
  });

  it("gives one view to one of 50 readers at once", async () => {
    const service = await start();
    const answers = await Promise.all(Array.from({ length: 50 }, () => view(service, "once")));
    const seen = answers.filter(({ status }) => status === 200);
    expect(seen).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(49);
    expect(seen[0]?.body.viewsRemaining).toBe(0);
    expect(await read(seen[0]?.body.encryptedContent)).toBe("hunter2");
    expect(await activities(service, { vaultId: "once" })).toEqual([
      "paper_secret_created",
      "paper_secret_opened",
    ]);
  });

  it("counts down to 0 and never past it", async () => {
    const service = await start();
    const left = [];
    for (let n = 0; n < 5; n++) {
      const { status, body } = await view(service, "internal", { as: "bob" });
      left.push(status === 200 ? body.viewsRemaining : status);
    }
    expect(left).toEqual([2, 1, 0, 404, 404]);
  });

  it("keeps no text where a secret has been used up or revoked", async () => {
    const db = join(folder, "erased.db");
    const service = await start({ db });
    await view(service, "once");
    expect((await ask(service, "POST", "/local/v1/secrets/always/revoke")).status).toBe(200);
    await service.stop();
    const file = await openDatabase(db);
    const left = file.prepare("SELECT id FROM paper_secrets WHERE ciphertext IS NOT NULL ORDER BY id").all();
    file.close();
    expect(left.map((row) => (row as { id: string }).id)).toEqual([
      "burned",
      "expires",
      "internal",
      "revoked",
    ]);
  });

  it("is 404 for what is unknown, used up, expired or revoked", async () => {
    const clock = fixedClock(START);
    const service = await start({ clock });
    expect((await view(service, "expires")).status).toBe(200);
    clock.advance(3_600_000);
    for (const id of ["unknown", "burned", "expires", "revoked"]) {
      const { status, body } = await view(service, id);
      expect([id, status, body.code, body.message]).toEqual([id, 404, 5, "There is no such secret."]);
    }
  });

  it("is 403 for an INTERNAL secret and a user outside its list, and the audit knows", async () => {
    const service = await start();
    const denied = await view(service, "internal");
    expect([denied.status, denied.body.code]).toEqual([403, 7]);
    expect(
      (await ask(service, "POST", "/api/v1/secrets/internal/view", { body: { readerRecipient: recipient } }))
        .status,
    ).toBe(403);
    expect((await view(service, "internal", { as: "bob" })).body.viewsRemaining).toBe(2);
    const events = await audit(service, { vaultId: "internal" });
    expect(events.map(({ activity_name: name, actor }) => [name, actor.user.uid])).toEqual([
      ["paper_secret_created", "ada"],
      ["paper_secret_access_denied", "ada"],
      ["paper_secret_access_denied", ""],
      ["paper_secret_opened_internal", "bob"],
    ]);
  });

  it("an INTERNAL one is not for a client that acts for nobody, whatever its list holds", async () => {
    const db = join(folder, "nobody.db");
    const service = await start({ db });
    // As a version of the service before this one would have stored it.
    const beside = await openDatabase(db);
    beside.exec(`UPDATE paper_secrets SET allowed_user_ids = '["", "bob"]' WHERE id = 'internal'`);
    beside.close();
    expect((await view(service, "internal", { as: "" })).status).toBe(403);
    expect((await view(service, "internal", { as: "bob" })).status).toBe(200);
  });

  it("looks at the recipient before anything else: nothing is told of the secret, and nothing is recorded", async () => {
    const service = await start();
    for (const id of ["unknown", "internal", "burned", "file"]) {
      const { status, body } = await view(service, id, { to: "age1none" });
      expect([id, status, body.details[0].fieldViolations[0].field]).toEqual([id, 400, "readerRecipient"]);
    }
    expect(await activities(service, { vaultId: "internal" })).toEqual(["paper_secret_created"]);
    expect((await view(service, "internal", { to: "" })).status).toBe(403);
  });

  it("is recorded with the time of the service's clock, who did it, and from where", async () => {
    const clock = fixedClock(START);
    const service = await start({ clock });
    clock.advance(86_400_000);
    await view(service, "always", { as: "bob" });
    const [, opened] = await audit(service, { vaultId: "always" });
    expect(opened).toEqual({
      activity_name: "paper_secret_opened",
      time: "2026-01-02T00:00:00.000Z",
      actor: { user: { uid: "bob", email_addr: "bob@example.com" } },
      src_endpoint: { ip: "127.0.0.1" },
      resources: [{ uid: "always" }],
    });
    await view(service, "always", { as: "" });
    const nobody = (await audit(service, { vaultId: "always" })).at(-1);
    expect(nobody?.actor.user).toEqual({ uid: "", email_addr: "" });
  });

  it("is 400 for what is no recipient, and uses up no view", async () => {
    const service = await start();
    const wrong = {
      "no recipient": undefined,
      "an empty one": "",
      "an identity": identity,
      "half of one": recipient.slice(0, 30),
      "a number": 7,
      "a list": [recipient],
      "32 zero bytes, with which nothing can be agreed": `age1${"q".repeat(52)}5cu47z`,
    };
    for (const [what, to] of Object.entries(wrong)) {
      const { status, body } = await view(service, "once", { to });
      const [violation] = body.details[0].fieldViolations;
      expect([what, status, body.code, violation.field]).toEqual([what, 400, 3, "readerRecipient"]);
    }
    expect((await view(service, "once")).status).toBe(200);
  });
});

describe("viewing a file", () => {
  it("gives a URL that is good for 5 minutes, and the audit knows who downloaded", async () => {
    const clock = fixedClock(START);
    const service = await start({ clock });
    const { body } = await view(service, "file", { to: undefined });
    expect(body).toMatchObject({
      filename: 'r\u00e9sum\u00e9 "1".age',
      secretType: "SECRET_TYPE_FILE",
      viewsRemaining: 1,
    });
    expect(body.encryptedContent).toBeUndefined();
    const download = await fetch(body.downloadUrl);
    expect([...new Uint8Array(await download.arrayBuffer())]).toEqual([0, 1, 2, 255]);
    expect(download.headers.get("content-disposition")).toBe("attachment");
    expect(download.headers.get("cache-control")).toBe("no-store");
    const forged = await fetch(body.downloadUrl.replace("reader=ada", "reader=bob"));
    expect([forged.status, (await forged.json()).code]).toEqual([404, 5]);
    clock.advance(300_000);
    expect((await fetch(body.downloadUrl)).status).toBe(404);
    expect(await activities(service, { vaultId: "file" })).toEqual([
      "paper_secret_created",
      "paper_secret_opened",
      "paper_secret_file_downloaded",
    ]);
  });

  itWith("python3", hasPython)("comes from a bucket by configuration", async () => {
    const clock = fixedClock(START);
    const bucket = await startFakeS3("secret", () => clock.now());
    const s3 = {
      endpoint: bucket.endpoint,
      bucket: "paper",
      accessKeyId: "AKIATEST",
      secretAccessKey: "secret",
    };
    const service = await start({ clock, s3 });
    const { body } = await view(service, "file");
    expect(body.downloadUrl.startsWith(`${bucket.endpoint}/paper/file?`)).toBe(true);
    expect([...new Uint8Array(await (await fetch(body.downloadUrl)).arrayBuffer())]).toEqual([0, 1, 2, 255]);
    await service.stop();
    await bucket.stop();
  });
});

describe("the files next to a database", () => {
  it("are one identity, however many processes make it at once, and no half of one", async () => {
    const own = mkdtempSync(join(folder, "identity-"));
    const db = join(own, "service.db");
    const clock = fixedClock(START);
    const vaults = Array.from({ length: 5 }, () => openSecrets({ db, clock, downloadsAt: () => "" }).vault);
    const sealed = await Promise.all(vaults.map((vault, n) => vault.seal(`text ${n}`)));
    for (const vault of [...vaults, openSecrets({ db, clock, downloadsAt: () => "" }).vault])
      expect(await Promise.all(sealed.map((one) => vault.open(one)))).toEqual(
        sealed.map((_, n) => `text ${n}`),
      );
    expect(readdirSync(own)).toEqual(["service.db.identity"]);
    expect(statSync(`${db}.identity`).mode & 0o777).toBe(0o600);
    expect(readFileSync(`${db}.identity`, "utf8")).toMatch(/^AGE-SECRET-KEY-1[A-Z0-9]+\n$/);
  });

  it("are the identity that was there first, also for a process that had found none yet", async () => {
    const first = await generateX25519Identity();
    let isThere = false;
    // Until this one comes in between: after the other has begun to write its own, and before it puts it there.
    for (let attempt = 0; attempt < 50 && !isThere; attempt++) {
      const own = mkdtempSync(join(folder, "first-"));
      const file = join(own, "service.db.identity");
      const { vault } = openSecrets({
        db: join(own, "service.db"),
        clock: fixedClock(START),
        downloadsAt: () => "",
      });
      const sealing = vault.seal("text");
      while (readdirSync(own).length === 0) await new Promise((resolve) => setImmediate(resolve));
      try {
        writeFileSync(file, `${first}\n`, { flag: "wx", mode: 0o600 });
        isThere = true;
      } catch {
        await sealing;
        continue;
      }
      const sealed = await sealing;
      expect(readFileSync(file, "utf8")).toBe(`${first}\n`);
      expect(await read(Buffer.from(sealed).toString("base64"), first)).toBe("text");
    }
    expect(isThere).toBe(true);
  });

  it("are the folder of files, for this user only; in memory there are none", async () => {
    const own = mkdtempSync(join(folder, "objects-"));
    const db = join(own, "service.db");
    const clock = fixedClock(START);
    await openSecrets({ db, clock, downloadsAt: () => "" }).objects.put("a", new Uint8Array([1]));
    expect(readdirSync(own)).toEqual(["service.db.objects"]);
    expect(statSync(`${db}.objects`).mode & 0o777).toBe(0o700);
    const memory = openSecrets({ db: undefined, clock, downloadsAt: () => "" });
    await memory.objects.put("a", new Uint8Array([1]));
    expect(memory.downloads).toBe(memory.objects);
    expect(await memory.vault.open(await memory.vault.seal("text"))).toBe("text");
    expect(readdirSync(".").filter((name) => /^undefined\./.test(name))).toEqual([]);
    expect(readdirSync(own)).toEqual(["service.db.objects"]);
  });

  it("are not overwritten where they cannot be made", async () => {
    const db = join(folder, "none", "service.db");
    const { vault } = openSecrets({ db, clock: fixedClock(START), downloadsAt: () => "" });
    await expect(vault.seal("text")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("local administration", () => {
  const create = (service: Service, body: object) => ask(service, "POST", "/local/v1/secrets", { body });

  it("keeps no secret whose file could not be kept", async () => {
    const bucket = createServer((_, response) => response.writeHead(403).end());
    await new Promise<void>((resolve) => bucket.listen(0, "127.0.0.1", resolve));
    const { port } = bucket.address() as AddressInfo;
    const keys = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };
    const away = await start({
      fixture: { users: FIXTURE.users },
      s3: { endpoint: `http://127.0.0.1:${port}`, bucket: "paper", ...keys },
    });
    const file = { filename: "a", contentBase64: "AAAA" };
    expect((await create(away, { creatorUserId: "ada", file })).status).toBe(500);
    expect(await audit(away)).toEqual([]);
    bucket.close();
  });

  it("creates a secret that can be viewed, and revokes it", async () => {
    const service = await start();
    const { status, body } = await create(service, { text: "new", views: 2, creatorUserId: "bob" });
    expect(status).toBe(200);
    expect(body.id).toMatch(/^[A-Za-z0-9]{27}$/);
    expect(await read((await view(service, body.id)).body.encryptedContent)).toBe("new");
    const revoke = () => ask(service, "POST", `/local/v1/secrets/${body.id}/revoke`);
    expect((await revoke()).status).toBe(200);
    expect((await revoke()).status).toBe(404);
    expect((await view(service, body.id)).status).toBe(404);
    expect(await activities(service, { vaultId: body.id })).toEqual([
      "paper_secret_created",
      "paper_secret_opened",
      "paper_secret_revoked_admin",
    ]);
  });

  it("refuses what makes no secret, with the path of the field", async () => {
    const service = await start();
    const by = { creatorUserId: "ada" };
    const wrong: [body: object, field: string][] = [
      [by, "text"],
      [{ ...by, text: "a", file: { filename: "b", contentBase64: "" } }, "body"],
      [{ creatorUserId: "eve", text: "a" }, "creatorUserId"],
      [{ text: "a" }, "creatorUserId"],
      [{ ...by, text: "a", views: -2 }, "views"],
      [{ ...by, file: { filename: "b", contentBase64: "a b" } }, "file.contentBase64"],
      [{ ...by, text: "a", access: "PUBLIC" }, "access"],
      [{ ...by, text: "a", expiresAt: "tomorrow" }, "expiresAt"],
      // RFC 3339 has it, and no clock here does: it would never end.
      [{ ...by, text: "a", expiresAt: "2016-12-31T23:59:60Z" }, "expiresAt"],
      [{ ...by, text: "a", expiresAt: "2017-01-01T00:59:60+01:00" }, "expiresAt"],
      [{ ...by, text: "a", expiresAt: "2026-02-30T00:00:00Z" }, "expiresAt"],
      [{ ...by, text: "a", expiresAt: "2026-01-01T00:00:00+01" }, "expiresAt"],
      [{ ...by, text: "a", expiresAt: "" }, "expiresAt"],
      [{ ...by, text: "a", allowedUserIds: [""] }, "allowedUserIds[0]"],
      [{ creatorUserId: "", text: "a" }, "creatorUserId"],
    ];
    for (const [body, field] of wrong) {
      const answer = await create(service, body);
      expect([body, answer.status, answer.body.details[0].fieldViolations[0].field]).toEqual([
        body,
        400,
        field,
      ]);
    }
  });

  it("ends a secret at its time, however the time is written", async () => {
    const clock = fixedClock(START);
    const service = await start({ clock });
    for (const expiresAt of [
      "2026-01-01T01:00:00.000Z",
      "2026-01-01t01:00:00z",
      "2026-01-01T02:30:00+01:30",
    ]) {
      const { body } = await create(service, { creatorUserId: "ada", text: "a", expiresAt });
      clock.advance(3_599_999);
      expect((await view(service, body.id)).status, expiresAt).toBe(200);
      clock.advance(1);
      expect((await view(service, body.id)).status, expiresAt).toBe(404);
      clock.advance(-3_600_000);
    }
  });

  it("is for Super Admins", async () => {
    const service = await start();
    const headers = { Authorization: `Bearer ${await service.token({ role: "member", userId: "ada" })}` };
    const body = { text: "a", creatorUserId: "ada" };
    expect((await ask(service, "POST", "/local/v1/secrets", { body, headers })).status).toBe(403);
    expect((await ask(service, "POST", "/local/v1/secrets/once/revoke", { headers })).status).toBe(403);
    expect(
      (await ask(service, "POST", "/api/v1/search/secrets-admin/audit_events", { body: {}, headers })).status,
    ).toBe(403);
  });
});

describe("the audit search (4.6)", () => {
  it("combines its filters with and; part of an address is enough, of an IP it is not", async () => {
    const service = await start();
    await view(service, "always");
    await view(service, "always", { as: "bob" });
    const found = async (filter: object) => (await audit(service, filter)).length;
    expect(await found({ vaultId: "always" })).toBe(3);
    expect(await found({ vaultId: "always", actorUserId: "bob" })).toBe(1);
    expect(await found({ vaultId: "always", actorEmail: "ADA@EX" })).toBe(2);
    expect(await found({ vaultId: "always", actorEmail: "ada", actorUserId: "bob" })).toBe(0);
    expect(await found({ vaultId: "always", clientIp: "127.0.0.1" })).toBe(2);
    expect(await found({ vaultId: "always", clientIp: "127.0.0" })).toBe(0);
    expect(await found({ actorEmail: "%" })).toBe(0);
    expect(await found({ vaultId: "' OR 1=1 --" })).toBe(0);
  });

  it("pages through all of them, each once", async () => {
    const clock = fixedClock(START);
    const service = await start({ clock });
    for (let n = 0; n < 25; n++) {
      clock.advance(n % 2);
      await view(service, "always");
    }
    const times: string[] = [];
    let pageToken = "";
    do {
      const { body } = await ask(service, "POST", "/api/v1/search/secrets-admin/audit_events", {
        body: { vaultId: "always", pageSize: 10, pageToken },
      });
      times.push(...body.list.map(({ time }: { time: string }) => time));
      pageToken = body.nextPageToken;
    } while (pageToken);
    expect(times).toHaveLength(26);
    expect(times).toEqual([...times].sort());
  });
});
