// Says of a captured request what is not in it: values that were masked, cut, or not yet filled in.
import { CliError, EXIT, usageError } from "../failure.js";
import type { CapturedRequest } from "./raw-request.js";

/** Headers that prove a request. */
const OF_PROOF = /^(?:webhook-|x-webhook-|svix-|signature|authorization$)/i;
/** What a template or a shell fills when the request is sent. */
const UNFILLED =
  /\{\{[^{}]{1,100}\}\}|\{%[^%]{1,100}%\}|<<[\w-]{1,60}>>|^(?:Bearer )?(?:\$\{?\w{1,60}\}?|\$\([^)]{1,200}\)|%\w{1,60}%)$/;
/** What logs and exports write in place of a secret, and at the end of what they cut. */
const HIDDEN =
  /^(?:Bearer |v1,)?(?:[*x\u2022\u00b7.-]{3,}|[<[({]{0,2}(?:redacted|filtered|masked|hidden|removed|secret|sanitized|scrubbed)[>\])}]{0,2})$|(?:\.{3}|\u2026|\xe2\x80\xa6)$/i;
/** No proof, id or time has these, nor a row of one sign as long as that. */
const MASKED = /\*{3}|\u2022{2}|(?:\xe2\x80\xa2){2}|x{16}|\[?redacted\]?/i;
/** What is written in a body in place of a value. */
const MASKED_VALUE =
  /[[<](?:redacted|filtered|masked|hidden|removed|sanitized|scrubbed)[\]>]|"[^"*\n]{0,12}\*{3,40}[^"*\n]{0,12}"|"[^"\u2022\n]{0,12}\u2022{3,40}"/i;

/** The request, unless the capture does not have the values that prove it; a body that was cut is doubted. */
export function whole(request: CapturedRequest): CapturedRequest {
  const { headers, body, doubt, lacksBody } = request;
  for (const [name, value] of headers) {
    if (!OF_PROOF.test(name) || value.length > MAX_VALUE) continue;
    const shownName = /^[\w-]{1,60}$/.test(name) ? name : "a header";
    if (value.length <= 300 && UNFILLED.test(value))
      throw usageError(
        `${shownName} in this capture is a variable, which is filled when the request is sent.`,
        "Send it to hookproof listen, and export the request from the inspector; of a curl command, give what --trace writes.",
      );
    if ((value.length <= 300 && HIDDEN.test(value)) || MASKED.test(value))
      throw new CliError(
        EXIT.setup,
        "CAPTURE_INCOMPLETE",
        `${shownName} in this capture is masked or cut: what was sent is not there.`,
        { hint: "Capture it where nothing hides it: hookproof listen keeps all of it." },
      );
  }
  const hasLength = headers.some(([name]) => /^content-length$/i.test(name));
  if (doubt !== undefined || lacksBody !== undefined) return request;
  const own = doubtOf(Buffer.from(body), hasLength);
  return own === undefined ? request : { ...request, doubt: own };
}

/** Why a body may be another one than was sent, by its text alone; its own length is the better witness. */
function doubtOf(body: Buffer, hasLength: boolean): string | undefined {
  const text = body.subarray(0, MAX_BODY).toString("utf8");
  if (MASKED_VALUE.test(text))
    return "it has a masked value, which a log or a person has put in place of one";
  if (hasLength) return undefined;
  if (CUT.test(body.subarray(-40).toString("utf8"))) return "it ends as what a log has cut";
  if (body.length > MAX_BODY) return undefined;
  if (/^\s*[{["]/.test(text) && isOpen(text))
    return "it ends in the middle of its JSON, and no Content-Length says that it was sent so";
  return /[{[,:]\s*[\u201c\u201d\u201e]/.test(text)
    ? "it has typographic quotes, which an editor or a chat makes of plain ones"
    : undefined;
}

/** Whether a text ends inside of a JSON value that it has begun. */
function isOpen(text: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (isInText && char === "\\") at += 1;
    else if (char === '"') isInText = !isInText;
    else if (!isInText && (char === "{" || char === "[")) depth++;
    else if (!isInText && (char === "}" || char === "]")) depth--;
  }
  return isInText || depth > 0;
}

const MAX_VALUE = 16_384;
const MAX_BODY = 131_072;

const CUT = /(?:\.{3}|\u2026|[[(<]?truncated[\])>]?|\bmore (?:bytes|characters)\)?)\s*$/i;
