import { once } from "node:events";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCertificates } from "../kit/certificates.js";
import { FIXTURE } from "./fixture.js";
import { type Answer, ask, startService } from "./running-service.js";

const UPDATE = "/api/v1/apps/app-1/resource_types/rt-manual";
const OWNERS = "/api/v2/apps/app-1/users/au-1/owners/users";
const MIB = 1024 * 1024;

let service: Service;
beforeAll(async () => {
  service = await createService({ fixture: FIXTURE, validateAnswers: true });
});
afterAll(() => service.stop());

const send = (body: unknown, headers: Record<string, string> = {}) =>
  ask(service, "POST", UPDATE, { body, headers });
const detailsOf = ({ body }: Answer): Record<string, unknown>[] => body.details;
const violationsOf = (answer: Answer) =>
  detailsOf(answer).flatMap(({ fieldViolations = [] }) => fieldViolations as object[]);

describe("the charset of a body", () => {
  it.each([
    ["application/json", 200],
    ["application/json;charset=utf-8", 200],
    ["application/json;   charset=UTF-8", 200],
    ['application/json; charset="utf-8"', 200],
    ["application/json; charset=utf8", 200],
    ["application/json; charset=x-utf-8", 415],
    ["application/json; charset=utf-8-x", 415],
    ["application/json; charset=utf-16", 415],
  ])("%s: %i", async (type, status) => {
    expect((await send({ updateMask: "" }, { "Content-Type": type })).status).toBe(status);
  });
});

describe("the bytes of a body", () => {
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ updateMask: "" });
    return empty + " ".repeat(bytes - empty.length);
  };

  it("takes 1 MiB, and not a byte more", async () => {
    expect((await send(padded(MIB))).status).toBe(200);
    expect((await send(padded(MIB + 1))).status).toBe(413);
  });

  it("refuses a byte order mark, and bytes that are not UTF-8", async () => {
    const answers = await Promise.all(
      [
        Buffer.from('\ufeff{"updateMask":""}'),
        Buffer.from('{"appResourceType":{"displayName":"\xff"}}', "latin1"),
      ].map(async (body) =>
        fetch(`${service.url}${UPDATE}`, {
          method: "POST",
          headers: { Authorization: `Bearer ${await service.token()}`, "Content-Type": "application/json" },
          body,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  });
});

describe("what a refusal says", () => {
  it("names the place in a list by its number, however long", async () => {
    const traitIds = [...Array(11).fill("a"), 5];
    const answer = await send({ appResourceType: { traitIds } });
    expect(violationsOf(answer)).toEqual([
      { field: "appResourceType.traitIds[11]", description: "must be string" },
    ]);
  });

  it("of a whole body names the body", async () => {
    expect(violationsOf(await send([]))).toEqual([{ field: "body", description: "must be object" }]);
  });

  it("has fields only where fields are wrong", async () => {
    const missing = await ask(service, "POST", "/api/v1/apps/app-9/resource_types/rt-9", { body: {} });
    expect(missing.status).toBe(404);
    expect(detailsOf(missing)).toHaveLength(1);
    const wrong = await send({ appResourceType: { traitIds: 5 } });
    expect(detailsOf(wrong)).toHaveLength(2);
  });

  it("asks for a token where one is missing, and nowhere else", async () => {
    const without = await ask(service, "GET", OWNERS, { headers: { Authorization: "Bearer none" } });
    expect(without.status).toBe(401);
    expect(without.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
    const unknown = await ask(service, "GET", "/api/v1/nothing");
    expect(unknown.status).toBe(404);
    expect(unknown.headers.get("www-authenticate")).toBeNull();
    expect((await send([])).headers.get("www-authenticate")).toBeNull();
  });
});

describe("numbers in a query", () => {
  it.each([
    ["10", 200],
    ["-1", 200], // below 10 counts as 10
    ["ten", 400],
    ["1.5", 400],
    ["", 400],
  ])("a page size of %j: %i", async (size, status) => {
    expect((await ask(service, "GET", `${OWNERS}?pageSize=${size}`)).status).toBe(status);
  });

  it("do not turn a text of digits into a number", async () => {
    expect((await ask(service, "GET", `${OWNERS}?pageToken=5`)).body.message).toContain("pageToken");
    expect((await ask(service, "GET", `${OWNERS}?roleSlug=5`)).status).toBe(200);
  });
});

it("a path is taken as it is written: its case, and no slash at its end", async () => {
  expect((await ask(service, "GET", OWNERS)).status).toBe(200);
  expect((await ask(service, "GET", OWNERS.replace("/owners/", "/Owners/"))).status).toBe(404);
  expect((await ask(service, "GET", `${OWNERS}/`)).status).toBe(404);
});

describe("the protocol that a client offers over TLS", () => {
  const { ca, server } = runCertificates();

  it.each([
    [["http/1.0"], "http/1.0"],
    [["http/1.0", "http/1.1"], "http/1.1"],
    [["h2", "http/1.1"], "http/1.1"],
    [undefined, false],
  ])("of %j, %s is spoken", async (offered, spoken) => {
    const { port } = await startService({ tls: server });
    const socket = connect({ port, ca, servername: "localhost", ALPNProtocols: offered ?? [] });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).toBe(spoken);
    socket.write("GET /healthz HTTP/1.0\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it("HTTP/2 alone is refused in the handshake", async () => {
    const { port } = await startService({ tls: server });
    const socket = connect({ port, ca, servername: "localhost", ALPNProtocols: ["h2"] });
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
  });
});
