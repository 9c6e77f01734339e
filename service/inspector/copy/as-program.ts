// A request as a program in several languages.
import type { RequestDetail } from "../../src/inspector/contract.js";
import { fromBase64 } from "../text/bytes.js";
import { hasHidden } from "../text/visible.js";
import { pasteable } from "./as-curl.js";

/** The languages a request can be copied as. */
export const LANGUAGES = ["JavaScript", "Python", "Go", "PHP"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * A program that signs the body as a new event and sends it, with nothing but the language's own library. The secret
 * comes from the environment, as HOOKPROOF_SECRET. Undefined where it is no HMAC that is wanted.
 */
export function asProgram(
  language: Language,
  { auth, url, bodyBase64, isCut }: RequestDetail,
): string | undefined {
  if (auth !== "hmac" || isCut) return undefined;
  return PROGRAMS[language](literal(url), pasteable(fromBase64(bodyBase64)), bodyBase64);
}

/** A text in double quotes, as JavaScript, Python and Go read it. */
function literal(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) =>
    unit < "\ud800" || unit > "\udfff" ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}` : unit,
  );
}

/** A text as PHP reads it. A body has its line ends in it; nothing else that is not seen stands there as it is. */
function phpLiteral(text: string): string {
  if (!hasHidden(text.replaceAll("\n", ""))) return `'${text.replace(/[\\']/g, "\\$&")}'`;
  const escaped = text.replace(/[\\"$]/g, "\\$&");
  return `"${escaped.replace(/[^ -~]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)}"`;
}

type Program = (url: string, text: string | undefined, base64: string) => string;

const PROGRAMS: Readonly<Record<Language, Program>> = {
  JavaScript: (url, text, base64) => `// HOOKPROOF_SECRET=… node this-file.mjs
import { createHmac, randomUUID } from "node:crypto";

const secret = process.env.HOOKPROOF_SECRET;
if (!secret) {
  console.error("Set HOOKPROOF_SECRET to the listener's secret.");
  process.exit(2);
}
const body = ${text === undefined ? `Buffer.from("${base64}", "base64")` : `Buffer.from(${literal(text)})`};
const id = randomUUID();
const timestamp = String(Math.floor(Date.now() / 1000));
const signature = createHmac("sha256", secret)
  .update(\`\${timestamp}.\${id}.\`)
  .update(body)
  .digest("base64url");

const response = await fetch(${url}, {
  method: "POST",
  headers: {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": id,
    "Webhook-Signature": signature,
  },
  body,
});
console.log(response.status, await response.text());
`,
  Python: (url, text, base64) => `# HOOKPROOF_SECRET=… python3 this_file.py
import base64, hashlib, hmac, os, sys, time, urllib.error, urllib.request, uuid

secret = os.environ.get("HOOKPROOF_SECRET") or sys.exit("Set HOOKPROOF_SECRET to the listener's secret.")
body = ${text === undefined ? `base64.b64decode("${base64}")` : `${literal(text)}.encode()`}
id = str(uuid.uuid4())
timestamp = str(int(time.time()))
digest = hmac.new(secret.encode(), f"{timestamp}.{id}.".encode() + body, hashlib.sha256).digest()
request = urllib.request.Request(${url}, data=body, method="POST", headers={
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": id,
    "Webhook-Signature": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
})
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error
print(response.status, response.read().decode())
`,
  Go: (url, text, base64) => `// HOOKPROOF_SECRET=… go run this_file.go
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	secret := os.Getenv("HOOKPROOF_SECRET")
	if secret == "" {
		fmt.Fprintln(os.Stderr, "Set HOOKPROOF_SECRET to the listener's secret.")
		os.Exit(2)
	}
	body${text === undefined ? `, _ := base64.StdEncoding.DecodeString("${base64}")` : ` := []byte(${literal(text)})`}
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	id := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	timestamp := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + id + "."))
	mac.Write(body)

	request, err := http.NewRequest("POST", ${url}, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Webhook-Timestamp", timestamp)
	request.Header.Set("Webhook-Event-Id", id)
	request.Header.Set("Webhook-Signature", base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(answer))
}
`,
  PHP: (url, text, base64) => `<?php // HOOKPROOF_SECRET=… php this-file.php
$secret = (string) getenv('HOOKPROOF_SECRET');
if ($secret === '') {
    fwrite(STDERR, "Set HOOKPROOF_SECRET to the listener's secret.\\n");
    exit(2);
}
$body = ${text === undefined ? `base64_decode('${base64}')` : phpLiteral(text)};
$b = random_bytes(16);
$b[6] = chr(ord($b[6]) & 0x0f | 0x40);
$b[8] = chr(ord($b[8]) & 0x3f | 0x80);
$id = vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($b), 4));
$timestamp = (string) time();
$digest = hash_hmac('sha256', "$timestamp.$id.$body", $secret, true);
$answer = file_get_contents(${phpLiteral(JSON.parse(url) as string)}, false, stream_context_create(['http' => [
    'method' => 'POST',
    'ignore_errors' => true,
    'content' => $body,
    'header' => [
        'Content-Type: application/json',
        "Webhook-Timestamp: $timestamp",
        "Webhook-Event-Id: $id",
        'Webhook-Signature: ' . rtrim(strtr(base64_encode($digest), '+/', '-_'), '='),
    ],
]]));
echo explode(' ', $http_response_header[0])[1], ' ', $answer, "\\n";
`,
};
