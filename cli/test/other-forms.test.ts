// Captures in forms that cannot be read without guessing: each is told for what it is, and what only looks like it is not.
import { describe, expect, it } from "vitest";
import { otherFormOf } from "../src/capture/other-forms.js";

const isOf = (text: string) => otherFormOf(text)?.is ?? "none";

/** The beginnings of what programs write, by what is said of them. */
const FORMS: readonly (readonly [is: RegExp, ...beginnings: string[]])[] = [
  [/packets \(pcap\)/, "\xd4\xc3\xb2\xa1\x02", "\xa1\xb2\xc3\xd4", "M<\xb2\xa1", "\n\r\r\n\x1c"],
  [/zip archive/, "PK\x03\x04\x14"],
  [/gzip/, "\x1f\x8b\x08"],
  [
    /output of tcpdump/,
    "12:34:56.789012 IP 10.0.0.1.443 > 10.0.0.2.5: Flags",
    "2026-01-01 12:34:56.789012 IP6 ::1.443 >",
    "12:34:56.789012 eth0 In IP 10.0.0.1",
    "12:34:56.789012 lo    Out   IP6 ::1",
    "12:34:56.789012 any M IP a",
  ],
  [
    /line of an access log/,
    '127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "POST /x HTTP/1.1" 200 2',
    '::1 - alice [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.0"',
    'proxy_1.test - - [1] "-"',
  ],
  [
    /line of a server's log/,
    'INFO:     127.0.0.1:1 - "POST /x HTTP/1.1" 200 OK',
    "POST /api/v1/webhooks 401 12.3 ms",
    'Started POST "/x" for 127.0.0.1',
    "[GIN] 2026/01/01 - 00:00:00",
    "[Thu Jan  1 00:00:00 2026] 127.0.0.1:1 [200]: POST /x",
    "#Software: Microsoft Internet Information Services 10.0",
    "#Fields: date time",
  ],
  [/file of Bruno/, "meta {\n  name: a", "meta {  \n"],
  [
    /console\.log in Node and print in Python/,
    "{ method: 'POST', url: '/x' }",
    "{\n  'content-type': 'application/json' }",
    "{'method': 'POST'}",
    "Request { method: 'POST' }",
    "Headers {",
    "IncomingMessage {",
    "Map(3) {",
    "req { $a: 1 }",
  ],
  [
    /Ruby, PHP, Go, Java and \.NET/,
    '{"method"=>"POST"}',
    '{"method" => "POST"}',
    "{method=POST, url=/x}",
    "Array\n(\n    [method] => POST",
    "array(3) {",
    "array (\n  'method'",
    "map[method:POST]",
    "&http.Request{Method:",
    "http.Header{",
    "Method: POST, RequestUri: 'http://a'",
  ],
  [
    /HTTP client prints for debugging/,
    "send: b'POST /x HTTP/1.1'",
    'b"POST /x',
    "opening connection to a:80",
    '<- "POST /x',
  ],
  [/OkHttp/, "--> POST http://127.0.0.1/x"],
  [
    /program code/,
    "import requests",
    "from http.client import x",
    "const a = 1",
    "axios.post(",
    "axios({",
    "requests.post(",
    "<?php",
    "curl_setopt($ch",
    "$ch = curl_init",
    "#include <curl/curl.h>",
  ],
  [
    /browser's panel/,
    "Request URL: http://a",
    "Request URL:\nhttp://a",
    "Summary\nURL: http://a",
    ":authority\na",
    "General\nRequest",
  ],
  [
    /Wireshark writes/,
    "No.     Time           Source",
    "Frame 12: 300 bytes",
    "Hypertext Transfer Protocol",
    "HyperText Transfer Protocol",
    "char peer0_0[] = {",
    "# Packet 4\npeer0_0: !!binary |",
    "peer1_12: x",
    "# a file\npeers:",
  ],
  [
    /ngrep or tcpdump print/,
    "interface: lo (127.0.0.0/8)",
    "T 127.0.0.1:1 -> 127.0.0.1:2 [AP]",
    "U a -> b [",
    "\t0x0000:  4500 0034",
  ],
  [/dump of od/, "0000000 4f50 5453", "0000000   P   O", "0000020 \\n"],
  [/HTML page/, "<!DOCTYPE html>", "<html lang='en'>"],
  [/a token/, "eyJhbGciOi.eyJzdWIi.c2ln", "Bearer eyJhbGciOi.eyJzdWIi.\n"],
  [/session of Charles/, "<charles-session>", '<?xml version="1.0"?>\n<charles-session name="a">'],
  [/cassette of VCR/, "interactions:\n- request:", "---\nhttp_interactions:\n", "--- \ninteractions: \n"],
  [
    /CloudWatch/,
    "START RequestId: 0b0f2b3e Version: $LATEST",
    "INIT_START Runtime",
    "(0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10) Method request",
    "2026-01-01T00:00:00.000Z\t0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10\tINFO\tx",
    "[INFO]\t2026-01-01T00:00:00.000Z\t0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10\tx",
    "2026-01-01T00:00:00.000+00:00 stream END RequestId: 1",
    "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10\tERROR\tx",
  ],
  [/Burp/, '<?xml version="1.0"?>', "<items burpVersion='1'>", "<items>"],
  [/nghttp/, "[  0.001] Connected", "[ 12.345] send"],
  [/mitmproxy/, "1234:7:version;1:8#"],
  [
    /HTTPie, xh or wget/,
    "http POST a.test/x a=b",
    "https a.test X-Header:1",
    "xh post a.test n:=1",
    "xhs a.test f=@file",
    "$ wget --post-data=x http://a",
    "http --raw '{}' a.test",
    "echo '{}' | http POST a.test X-A:b",
    "cat file |http a.test X-A:b",
  ],
  [/signs in place of its line ends/, "POST /x HTTP/1.1^M", "POST /x HTTP/1.1$"],
  [
    /wget -d/,
    "DEBUG output created by Wget 1.21",
    "Setting --post-data (postdata) to x",
    "---request begin---",
  ],
  [/Insomnia in YAML/, "type: collection.insomnia.rest/5.0"],
  [/JMeter/, "POST http://a/x\n\nPOST data:\n{}", "GET https://a/x\r\n\r\nActual GET data:"],
  [/an answer and no request/, "HTTP/1.1 200 OK", "HTTP/2 401"],
];

describe("a capture in a form that cannot be read", () => {
  it.each(FORMS.flatMap(([is, ...beginnings]) => beginnings.map((one) => [one, is] as const)))(
    "%j is %s",
    (beginning, is) => {
      expect(isOf(beginning)).toMatch(is);
      expect(otherFormOf(beginning)?.instead).toMatch(/\w{4}/);
    },
  );

  it("is known at its beginning alone, but for the log of a server, whose lines begin in many ways", () => {
    for (const [is, ...beginnings] of FORMS)
      for (const one of beginnings)
        if (!/HTTP\/1\.1"/.test(one)) expect(isOf(`¶ ${one}`), one).not.toMatch(is);
  });
});

describe("what only looks like another form is none:", () => {
  it.each([
    ...[
      "POST /x HTTP/1.1",
      "POST /x HTTP/1.1\r\nHost: a",
      "curl -X POST http://a",
      "PKAB",
      "AB\x8b",
      "1:2:a",
    ],
    ...[
      "12:34:56 IP a",
      "1 2 3",
      '[{"a": "POST /x HTTP/1.1"}]',
      '{"requestLine":"POST /x HTTP/1.1"}',
      "meta",
    ],
    ...['{"method":"POST"}', "array", "Methods: POST", "--> ", "--> post x", "imports", "html", "eyJ.a.b"],
    ...[
      "interactions",
      "[1]",
      "http://a.test/x",
      "http 2026-01-01 a=b",
      "wget a",
      "HTTP/1.1",
      "POST http://a",
    ],
    ...["0000000", "0000000:", "No. 1", "peer: x", "T a", "Bearer", "type: collection"],
  ])("%j", (text) => {
    expect(isOf(text)).toBe("none");
  });
});
