import { Agent, get } from "node:http";
import { guardedLookup, type Resolve } from "hookproof/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTransport as createFetchTransport } from "../../src/http/transport-fetch.js";
import { createTransport } from "../../src/http/transport-node.js";
import { httpServer, type LocalServer } from "./local-server.js";

const refused = expect.objectContaining({ code: "ADDRESS_REFUSED" });
let server: LocalServer;
beforeEach(async () => {
  server = await httpServer((_req, res) => res.end());
});
afterEach(() => server.stop());

const request = (url: string) => ({
  method: "GET",
  url,
  headers: [],
  timeoutMs: 2_000,
  maxResponseBytes: 100,
});

/** Each of these leads to this machine, to a private network, or to a cloud's metadata service. */
const SPELLINGS = [
  "127.0.0.1",
  "127.1",
  "0x7f.0.0.1",
  "0x7f000001",
  "2130706433",
  "0177.0.0.1",
  "0177.1",
  "127.0.0.1.",
  "①②⑦.0.0.1",
  "0.0.0.0",
  "0",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "255.255.255.255",
  "224.0.0.1",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:169.254.169.254]",
  "[::7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "localhost",
  "LOCALHOST.",
];

describe.each([
  ["node", createTransport],
  ["fetch", createFetchTransport],
])("with allowPrivateNetwork: false, over %s", (_name, create) => {
  it.each(SPELLINGS)("refuses %s, and no packet leaves", async (host) => {
    const transport = create({ allowPrivateNetwork: false });
    await expect(transport(request(`http://${host}:${server.port}/`))).rejects.toEqual(refused);
    expect(server.connections).toHaveLength(0);
  });

  it("lets an allowed range through, and nothing beside it", async () => {
    const transport = create({ allowPrivateNetwork: false, allowedCidrs: ["127.0.0.1/32"] });
    expect((await transport(request(`http://127.0.0.1:${server.port}/`))).status).toBe(200);
    await expect(transport(request(`http://127.0.0.2:${server.port}/`))).rejects.toEqual(refused);
  });

  it("connects anywhere when it is not asked to guard", async () => {
    expect((await create()(request(`http://127.0.0.1:${server.port}/`))).status).toBe(200);
  });
});

describe("guardedLookup", () => {
  const resolving =
    (...answers: string[][]): Resolve =>
    (_hostname, _options, callback) => {
      const addresses = answers.shift() ?? [];
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    };

  function fetched(resolve: Resolve): Promise<number | undefined> {
    const agent = new Agent({ lookup: guardedLookup({ allowedCidrs: ["127.0.0.1/32"], resolve }) });
    return new Promise((done, fail) => {
      get({ host: "receiver.test", port: server.port, agent }, (res) => {
        res.resume();
        done(res.statusCode);
      }).on("error", fail);
    });
  }

  it("connects to the answer that it checked", async () => {
    expect(await fetched(resolving(["127.0.0.1"]))).toBe(200);
  });

  it("refuses a name of which only one address is private", async () => {
    await expect(fetched(resolving(["127.0.0.1", "10.0.0.7"]))).rejects.toEqual(refused);
    await expect(fetched(resolving(["127.0.0.1", "::ffff:10.0.0.7"]))).rejects.toEqual(refused);
    expect(server.connections).toHaveLength(0);
  });

  it("checks every connection anew, so that a name that is rebound afterwards is refused", async () => {
    const resolve = resolving(["127.0.0.1"], ["127.0.0.2"]);
    expect(await fetched(resolve)).toBe(200);
    await expect(fetched(resolve)).rejects.toEqual(refused);
    expect(server.connections).toHaveLength(1);
  });

  it("passes a failed look-up on, and a name without addresses is one", async () => {
    const failing: Resolve = (_hostname, _options, callback) => callback(new Error("SERVFAIL"), []);
    await expect(fetched(failing)).rejects.toThrow("SERVFAIL");
    await expect(fetched(resolving([]))).rejects.toThrow("receiver.test has no address");
  });

  it("uses the system's own look-up by default", async () => {
    const address = await new Promise((done) =>
      guardedLookup()("localhost", {}, (error) => done(error && "code" in error ? error.code : error)),
    );
    expect(address).toBe("ADDRESS_REFUSED");
  });
});
