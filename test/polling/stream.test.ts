import { securityEventStream } from "hookproof/set/polling";
import { expect, it } from "vitest";

const CONFIGURATION = {
  issuer: "https://tr.example.com/tenant1",
  status_endpoint: "https://tr.example.com/ssf/status",
  verification_endpoint: "https://tr.example.com/ssf/verify",
};

type Transport = NonNullable<Parameters<typeof securityEventStream>[0]["transport"]>;

/** A transmitter as a function, and what it was asked. */
function streamAt(answer: (method: string, url: string, body: unknown) => [status: number, body?: unknown]) {
  const asked: unknown[][] = [];
  const transport: Transport = async ({ method, url, body }) => {
    const sent = body && JSON.parse(new TextDecoder().decode(body));
    asked.push(sent ? [method, url, sent] : [method, url]);
    const [status, given] = answer(method, url, sent);
    const bytes = new TextEncoder().encode(given === undefined ? "" : JSON.stringify(given));
    return { status, headers: [], body: bytes, truncated: false };
  };
  const own = { issuer: CONFIGURATION.issuer, streamId: "f67e39a0", authorization: "Bearer a", transport };
  return { stream: securityEventStream(own), asked };
}

it("reads and changes the status, and asks for a verification, as the framework says", async () => {
  const { stream, asked } = streamAt((method, url, body) => {
    if (url.includes(".well-known")) return [200, CONFIGURATION];
    if (url.includes("verify")) return [204];
    return [
      200,
      method === "GET"
        ? { stream_id: "f67e39a0", status: "paused", reason: "SYSTEM_DOWN_FOR_MAINTENANCE" }
        : body,
    ];
  });
  expect(await stream.status()).toEqual({ status: "paused", reason: "SYSTEM_DOWN_FOR_MAINTENANCE" });
  expect(await stream.setStatus("enabled", "It is over.")).toEqual({
    status: "enabled",
    reason: "It is over.",
  });
  expect(await stream.setStatus("disabled")).toEqual({ status: "disabled" });
  await stream.verify("VGhpcyBpcyBhbiBleGFtcGxl");
  await stream.verify();
  expect(asked).toEqual([
    ["GET", "https://tr.example.com/.well-known/ssf-configuration/tenant1"],
    ["GET", "https://tr.example.com/ssf/status?stream_id=f67e39a0"],
    [
      "POST",
      "https://tr.example.com/ssf/status",
      { stream_id: "f67e39a0", status: "enabled", reason: "It is over." },
    ],
    ["POST", "https://tr.example.com/ssf/status", { stream_id: "f67e39a0", status: "disabled" }],
    [
      "POST",
      "https://tr.example.com/ssf/verify",
      { stream_id: "f67e39a0", state: "VGhpcyBpcyBhbiBleGFtcGxl" },
    ],
    ["POST", "https://tr.example.com/ssf/verify", { stream_id: "f67e39a0" }],
  ]);
});

it.each<[configuration: object, status: [number, unknown?], code: string]>([
  [{ ...CONFIGURATION, issuer: "https://tr.example.com/" }, [200], "RESPONSE_INVALID"],
  [{ ...CONFIGURATION, status_endpoint: undefined }, [200], "RESPONSE_INVALID"],
  [{ ...CONFIGURATION, status_endpoint: "http://tr.example.com/status" }, [200], "TLS_REQUIRED"],
  [CONFIGURATION, [200, { status: "resting" }], "RESPONSE_INVALID"],
  [CONFIGURATION, [200, { status: "enabled", stream_id: "another" }], "RESPONSE_INVALID"],
  [CONFIGURATION, [200, []], "RESPONSE_INVALID"],
  [CONFIGURATION, [403], "SOURCE_REFUSED"],
  [CONFIGURATION, [429], "RECEIVER_UNAVAILABLE"],
])("a call that fails rejects with a code: %j, %j", async (configuration, status, code) => {
  const { stream } = streamAt((_, url) => (url.includes(".well-known") ? [200, configuration] : status));
  await expect(stream.status()).rejects.toMatchObject({ code });
});

it("a configuration that could not be fetched is asked for again", async () => {
  let isUp = false;
  const { stream } = streamAt((_, url) => {
    if (url.includes(".well-known")) return isUp ? [200, CONFIGURATION] : [503];
    return [200, { status: "enabled" }];
  });
  await expect(stream.status()).rejects.toMatchObject({ code: "RECEIVER_UNAVAILABLE" });
  isUp = true;
  expect(await stream.status()).toEqual({ status: "enabled" });
});
