import { createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { sendAnswer } from "hookproof/node";
import { expect, it } from "vitest";

type Answer = Parameters<typeof sendAnswer>[0];

/** The header lines of an answer as they arrive, without Node's own, and the body. */
async function received(answer: Answer, before: RequestListener = () => {}, method = "POST") {
  const server = createServer((req, res) => {
    before(req, res);
    req.resume().once("end", () => sendAnswer(answer, req, res));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return await new Promise<{ status: number | undefined; lines: string[]; body: string }>(
      (resolve, reject) => {
        const sent = request({ port, host: "127.0.0.1", method, agent: false }, async (response) => {
          let body = "";
          for await (const chunk of response.setEncoding("utf8")) body += chunk;
          const lines: string[] = [];
          for (let i = 0; i < response.rawHeaders.length; i += 2)
            lines.push(`${response.rawHeaders[i]}: ${response.rawHeaders[i + 1]}`);
          const own = lines.filter((line) => !/^(?:Date|Connection|Keep-Alive): /.test(line));
          resolve({ status: response.statusCode, lines: own.sort(), body });
        });
        sent.on("error", reject).end();
      },
    );
  } finally {
    server.close();
  }
}

const JSON_TYPE = ["Content-Type", "application/json"] as const;

it("an answer has its lines, and the length of its body in bytes", async () => {
  expect(await received({ status: 404, headers: [JSON_TYPE], body: '{"a":"ä€"}' })).toEqual({
    status: 404,
    lines: ["Content-Length: 13", "Content-Type: application/json"],
    body: '{"a":"ä€"}',
  });
});

it("an empty body has the length 0, and with 204 none", async () => {
  expect((await received({ status: 202, headers: [], body: "" })).lines).toEqual(["Content-Length: 0"]);
  expect((await received({ status: 204, headers: [], body: "" })).lines).toEqual([]);
});

it("a name that stands several times gives as many lines, in any case", async () => {
  const headers = [
    ["X-One", "1"],
    ["x-one", "2"],
    ["X-ONE", "3"],
    ["X-Two", "4"],
  ] as const;
  const { lines } = await received({ status: 200, headers, body: "{}" });
  expect(lines.map((line) => line.toLowerCase())).toEqual([
    "content-length: 2",
    "x-one: 1",
    "x-one: 2",
    "x-one: 3",
    "x-two: 4",
  ]);
});

it("lines that a server has set before stay, unless the answer has them", async () => {
  const { lines } = await received({ status: 200, headers: [JSON_TYPE], body: "{}" }, (_, res) => {
    res.setHeader("X-Server", "own").setHeader("content-type", "text/plain").setHeader("Content-Length", "7");
  });
  expect(lines).toEqual(["Content-Length: 2", "Content-Type: application/json", "X-Server: own"]);
});

it("the answer to HEAD has no body", async () => {
  const answer = await received({ status: 405, headers: [["Allow", "POST"]], body: "{}" }, undefined, "HEAD");
  expect(answer).toMatchObject({ status: 405, body: "" });
  expect(answer.lines).toContain("Allow: POST");
});
