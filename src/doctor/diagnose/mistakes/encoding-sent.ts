// Rows of what was done to a body after it was signed, and which is undone here.
import { decodeUtf8, utf8 } from "../../../core/bytes.js";
import type { RepeatableMistake } from "../../rows/mistake.js";
import { decodeAnyBase64, latin1Text, withoutEntities, withText } from "../../texts/rewrite.js";

type Undo = (bytes: Uint8Array) => Uint8Array | undefined;

const ONCE =
  "Serialise once, and send the text that was signed: body = JSON.stringify(payload), fetch(url, { body }).";

/** The body was signed as it should be, and sent in another form. */
export const SENT_BODY_MISTAKES: readonly RepeatableMistake<Undo>[] = [
  {
    id: "body-sent-stringified-twice",
    title: "Body sent serialised twice",
    message:
      "It matches with the text inside of the body, which is one string of JSON: it was serialised once more when it was sent.",
    fix: `${ONCE} In Python requests.post(url, data=body), not json=body.`,
    ways: [
      [2, inside],
      [4, (bytes) => inside(inside(bytes) ?? new Uint8Array())],
    ],
  },
  {
    id: "body-sent-in-base64",
    title: "Body sent in base64",
    message:
      "It matches with the body decoded from base64: bytes were serialised as JSON, as Go does with []byte, or a gateway encoded them.",
    fix: `${ONCE} In Go bytes.NewReader(body), without json.Marshal(body).`,
    ways: [
      [3, (bytes) => fromBase64(inside(bytes))],
      [3, fromBase64],
    ],
  },
  {
    id: "body-sent-as-latin1",
    title: "Body sent as Latin-1",
    message: "It matches with the body in UTF-8: it was sent in Latin-1, where \u00e4 is one byte.",
    fix: "Send the bytes that were signed: new TextEncoder().encode(body). In PowerShell -Body ([Text.Encoding]::UTF8.GetBytes($body)).",
    ways: [[2, (bytes) => (decodeUtf8(bytes) === undefined ? utf8(latin1Text(bytes)) : undefined)]],
  },
  {
    id: "body-sent-as-form",
    title: "Body sent as a form",
    message:
      "It matches with the JSON in a field of the form that was sent, or with the form's fields as JSON.",
    fix: `${ONCE} In Python requests.post(url, data=body), where body is the text that was signed and not a dict.`,
    ways: [
      [3, fieldOfForm],
      [4, formAsJson],
    ],
  },
  {
    id: "body-sent-with-entities",
    title: "HTML entities in the sent body",
    message:
      "It matches if &amp;, &lt; and their like in the body are the characters that they stand for: something escaped them after the body was signed.",
    fix: "Look for a filter against scripts (XSS), a template or a firewall between signing and verifying, and except the listener's route from it.",
    ways: [
      [3, (bytes) => withText(bytes, withoutEntities)],
      [3, (bytes) => withText(bytes, (text) => text.replaceAll("&amp;", "&"))],
    ],
  },
  {
    id: "body-sent-without-quotes",
    title: "Quotes of the sent body lost",
    message: "It matches with quotes around the words of the body: a shell has taken them away.",
    fix: "Give the body as a file: curl --data-binary @body.json, or in single quotes.",
    ways: [[3, (bytes) => withText(bytes, requoted)]],
  },
];

/** The text of a body that is one string of JSON. */
function inside(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes[0] !== 34) return undefined;
  return withText(bytes, (text) => {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "string" && value !== "" ? value : undefined;
    } catch {
      return undefined;
    }
  });
}

/** The only text of JSON among the fields of a form. */
function fieldOfForm(bytes: Uint8Array): Uint8Array | undefined {
  const texts = fieldsOf(bytes).map(([, value]) => value);
  const json = texts.filter((text) => /^\s{0,8}[{[]/.test(text));
  return json.length === 1 ? utf8(json[0] ?? "") : undefined;
}

function formAsJson(bytes: Uint8Array): Uint8Array | undefined {
  const fields = fieldsOf(bytes);
  return fields.length > 0 ? utf8(JSON.stringify(Object.fromEntries(fields))) : undefined;
}

/** The fields of a form; none where the body is something else. */
function fieldsOf(bytes: Uint8Array): [string, string][] {
  const text = decodeUtf8(bytes) ?? "";
  return /^[\w.[\]%-]{1,64}=[^{}"<>\s]*$/.test(text) ? [...new URLSearchParams(text)] : [];
}

function fromBase64(bytes: Uint8Array | undefined): Uint8Array | undefined {
  const text = bytes && decodeUtf8(bytes)?.trim();
  return text && /^[\w+/-]{8,}={0,2}$/.test(text) ? decodeAnyBase64(text) : undefined;
}

/** Each word between brackets, commas and colons in quotes; numbers, true, false and null stay. */
function requoted(text: string): string | undefined {
  if (text.includes('"') || !/^\s?[{[]/.test(text)) return undefined;
  return text.replace(/[^{}[\]:,]+/g, (word) =>
    /^(?:true|false|null|-?[0-9]+(?:\.[0-9]+)?)?$/.test(word.trim()) ? word : `"${word}"`,
  );
}
