// What a body that arrives faster than it is read holds of memory.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { receivedRequest } from "hookproof/node";
import { expect, it, onTestFinished } from "vitest";

const MIB = 2 ** 20;
const SIZE = 64;

/** A server that takes the first bytes of a body and then waits to be let on; and somebody who sends it a long one. */
async function slowlyRead() {
  let letOn = () => {};
  const isLetOn = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  let brokeOff: (why: string) => void = () => {};
  const broken = new Promise<string>((resolve) => {
    brokeOff = resolve;
  });
  let incoming: IncomingMessage | undefined;
  const read = createHash("sha256");
  const server = createServer(async (received, response) => {
    incoming = received;
    try {
      for await (const chunk of receivedRequest(received).body) {
        read.update(chunk);
        await isLetOn;
      }
      response.end(read.digest("hex"));
    } catch (error) {
      brokeOff((error as Error).message);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const sending = request({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    method: "POST",
  });
  sending.on("error", () => {}); // the end of the test closes it
  const answered = once(sending, "response") as Promise<[IncomingMessage]>;
  answered.catch(() => {});
  const sent = createHash("sha256");
  for (let n = 0; n < SIZE; n++) {
    const chunk = randomBytes(MIB);
    sent.update(chunk);
    sending.write(chunk);
  }
  sending.end();
  return { letOn, answered, broken, sending, incoming: () => incoming, digest: sent.digest("hex") };
}

it("a reader that is slower than the sender lets the connection wait, and gets every byte", async () => {
  const { letOn, answered, incoming, digest } = await slowlyRead();
  await expect.poll(() => incoming()?.isPaused()).toBe(true);
  expect(incoming()?.socket.bytesRead).toBeLessThan(2 * MIB);
  letOn();
  const [answer] = await answered;
  let text = "";
  for await (const piece of answer.setEncoding("utf8")) text += piece;
  expect(text).toBe(digest);
});

it("a sender that leaves while the connection waits ends the reading", async () => {
  const { letOn, broken, sending, incoming } = await slowlyRead();
  await expect.poll(() => incoming()?.isPaused()).toBe(true);
  sending.destroy();
  letOn();
  expect(await broken).toBe("the request broke off");
});
