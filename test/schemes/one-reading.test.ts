// A URL has one reading: what is signed is what is sent, and what a listener compares.
import { createHmac } from "node:crypto";
import { createEvent, createSender, hmacSigner, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { createReceiver } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { httpServer, started } from "../kit/local-server.js";

const secret = "a secret that both sides know: 32 bytes or more";
const components = ["@method", "@target-uri", "@authority", "@scheme", "@path", "@query"] as const;
const signer = httpSignatureSigner({ secret, keyId: "k", components: [...components] });

/** URLs as people write them, behind scheme, host and port. */
const PATHS = [
  "",
  "/",
  "/p",
  "/p?",
  "/p?a=1",
  "/p?a='x'&b=\"y\"",
  "/p'q",
  "/a/../p",
  "/a/./b//c",
  "/p?a=../b",
  "/P%7Eq/%7eq",
  "/ü?ü=ü",
  "/p q?r s",
  "/p??",
  "/p|q{r}",
];

/** A server's own view of a request line (RFC 9421 section 2.2), made of what came over the wire alone. */
function partsOnTheWire({ host, target }: { host: string; target: string }): Record<string, string> {
  const at = target.indexOf("?");
  return {
    "@method": "POST",
    "@target-uri": `http://${host}${target}`,
    "@authority": host,
    "@scheme": "http",
    "@path": at < 0 ? target : target.slice(0, at),
    "@query": at < 0 ? "?" : target.slice(at),
  };
}

describe.each(PATHS)("…%s", (path) => {
  it("is signed as it is sent", async () => {
    const seen: { target: string; host: string; lines: NodeJS.Dict<string | string[]> }[] = [];
    const server = await started(
      httpServer((request, response) => {
        const { url: target = "", headers: lines } = request;
        seen.push({ target, host: String(lines.host), lines });
        request.resume().on("end", () => response.end("{}"));
      }),
    );
    await createSender({ url: `HTTP://LOCALHOST:${server.port}${path}`, signer }).send({});
    const [request] = seen;
    if (!request) throw new Error("nothing came");
    const input = String(request.lines["signature-input"]).replace(/^[^=]+=/, "");
    const parts = partsOnTheWire(request);
    const covered = [...input.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
    const names = covered.slice(0, covered.indexOf("k"));
    const base = [...new Set(names)]
      .filter((name) => input.slice(0, input.indexOf(")")).includes(`"${name}"`))
      .map((name) => `"${name}": ${parts[name] ?? request.lines[name]}`);
    const text = [...base, `"@signature-params": ${input}`].join("\n");
    const wanted = createHmac("sha256", secret).update(text).digest("base64");
    expect(String(request.lines.signature)).toContain(`:${wanted}:`);
  });

  it("is the listener's that has it as its URL, whichever way the sender writes its path", async () => {
    const url = `https://h.example${path}`;
    for (const end of ["#", "#a"])
      expect(() => httpSignatureVerifier({ url: `${url}${end}`, secrets: { k: secret } })).toThrow(
        "url must be the receiver's whole URL: it must not have a fragment",
      );
    const made = await signRequest({ url, signer, event: createEvent({}) });
    const verifier = httpSignatureVerifier({ url, secrets: { k: secret }, components: [...components] });
    const headers = Object.entries(made.headers);
    for (const target of [new URL(url).pathname + new URL(url).search, path || "/", url]) {
      const { verdict } = await createReceiver({ verifier }).receive(
        { ...made, headers, url: target },
        async () => {},
      );
      expect(verdict.ok ? "accepted" : verdict.code).toBe("accepted");
    }
  });
});

it("an empty query is no part of the URL that is given back to be sent", async () => {
  const made = await signRequest({
    url: "https://h.example/p?",
    signer,
    event: { id: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", body: new TextEncoder().encode("{}") },
  });
  expect(made.url).toBe("https://h.example/p");
});

it.each(["http://[bad", "no url", "https://", "//h.example/p"])(
  "what is no URL is refused by name: %s",
  (url) => {
    expect(() => createSender({ url, signer })).toThrow(
      expect.objectContaining({ code: "LISTENER_URL_INVALID" }),
    );
    expect(() =>
      createSender({ url, signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }) }),
    ).toThrow(expect.objectContaining({ code: "LISTENER_URL_INVALID" }));
  },
);
