// What an answer shows that is not the listener's own.
import { type HeaderPair, onlyValue } from "../core/headers.js";

interface Shown {
  readonly headers: readonly HeaderPair[];
  readonly body?: Uint8Array;
}

/** Whether an answer is a page of HTML. Its type says nothing: frameworks call an "ok" text/html too. */
export function isPage({ body }: Shown): boolean {
  if (body?.find((byte) => byte > 0x20) !== 0x3c) return false;
  return /^\s*<(?:!doctype html|html|head|body)[\s>]/i.test(String.fromCharCode(...body.subarray(0, 100)));
}

/** Likely causes of a refusal that its answer shows; none where it shows nothing. */
export function foreignHints(answer: Shown): string[] {
  const header = (name: string) => onlyValue(answer.headers, name) ?? "";
  // How AWS answers where a gateway has no such route.
  if (header("x-amzn-errortype").startsWith("MissingAuthenticationToken"))
    return ["a gateway that has no such route"];
  if (/^(?:basic|digest|negotiate|ntlm)\b/i.test(header("www-authenticate")))
    return ["HTTP authentication in front"];
  return isPage(answer)
    ? ["another server, another path, or a framework's error page: the answer is a page of HTML"]
    : [];
}
