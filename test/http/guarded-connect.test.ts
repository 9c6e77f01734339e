import dns from "node:dns";
import { Agent, get } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { checkKeySet } from "hookproof/jwks";
import { guardedLookup } from "hookproof/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Resolve } from "../../src/http/node/guarded-lookup.js";
import { createTransport } from "../../src/http/node/transport.js";
import { publicAddresses } from "../../src/http/transport.js";
import { createTransport as createFetchTransport } from "../../src/http/transport-fetch.js";
import { httpServer, type LocalServer } from "../kit/local-server.js";

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
  timeoutMs: 10_000,
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
  "receiver.localhost",
  "a.b.LOCALHOST.",
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

  it("lets an allowed range through, and nothing next to it", async () => {
    const transport = create({ allowPrivateNetwork: false, allowedCidrs: ["127.0.0.1/32"] });
    expect((await transport(request(`http://127.0.0.1:${server.port}/`))).status).toBe(200);
    await expect(transport(request(`http://127.0.0.2:${server.port}/`))).rejects.toEqual(refused);
  });

  it("connects anywhere when it is not asked to guard", async () => {
    expect((await create()(request(`http://127.0.0.1:${server.port}/`))).status).toBe(200);
  });
});

describe("the key set's URL and a listener's are held against the same rules", () => {
  const { lookup } = dns;
  beforeEach(() => {
    const nothing = (_name: string, _options: object, callback: (error: Error) => void) =>
      callback(new Error("no name is asked of DNS"));
    dns.lookup = nothing as unknown as typeof dns.lookup;
    syncBuiltinESMExports();
  });
  afterEach(() => {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  });

  it.each(SPELLINGS)("%s", async (host) => {
    const { checks } = await checkKeySet(`https://${host}:${server.port}/jwks.json`);
    expect(checks).toMatchObject([{ rule: "https", outcome: "fail" }]);
    expect(checks[0]?.detail).toContain("private or reserved");
    const allowed = ["127.0.0.0/8"];
    const policy = publicAddresses(allowed);
    const { hostname } = new URL(`https://${host}/`);
    const { checks: again } = await checkKeySet(`https://${host}:1/`, { allowedCidrs: allowed });
    if (again[0]?.outcome === "pass") policy.checkHost(hostname);
    else expect(() => policy.checkHost(hostname)).toThrow();
  });

  it.each(["localhost.example.com", "mylocalhost", "8.8.8.8", "[2606:4700::1111]", "127.example.com"])(
    "%s may be looked up",
    (host) => {
      publicAddresses().checkHost(new URL(`https://${host}/`).hostname);
    },
  );
});

describe("an address policy", () => {
  it("reads an address with a zone, and refuses what is no address", () => {
    publicAddresses().check("2606:4700::1111%eth0");
    publicAddresses().check("8.8.8.8");
    for (const address of ["fe80::1%eth0", "127.0.0.1%lo", "", "localhost", "8.8.8", "8.8.8.8 "])
      expect(() => publicAddresses().check(address)).toThrow(refused);
  });

  it("refuses a range that is none", () => {
    expect(() => publicAddresses(["10.0.0.1/8"])).toThrow(expect.objectContaining({ code: "CIDR_INVALID" }));
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

  it("checks every connection again, so that a name that is rebound afterwards is refused", async () => {
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

  it("gives one address or all of them, as it is asked", async () => {
    const asked: unknown[] = [];
    const resolve: Resolve = (_hostname, options, callback) => {
      asked.push(options);
      callback(null, [
        { address: "8.8.8.8", family: 4 },
        { address: "2606:4700::1111", family: 6 },
      ]);
    };
    const given = (options: object) =>
      new Promise((done) => guardedLookup({ resolve })("x.test", options, (...answer) => done(answer)));
    expect(await given({ family: 4 })).toEqual([null, "8.8.8.8", 4]);
    expect(await given({ all: true })).toEqual([
      null,
      [
        { address: "8.8.8.8", family: 4 },
        { address: "2606:4700::1111", family: 6 },
      ],
    ]);
    expect(asked).toEqual([{ family: 4, all: true }, { all: true }]);
  });

  it("uses the system's own look-up by default", async () => {
    const address = await new Promise((done) =>
      guardedLookup()("localhost", {}, (error) => done(error && "code" in error ? error.code : error)),
    );
    expect(address).toBe("ADDRESS_REFUSED");
  });
});
