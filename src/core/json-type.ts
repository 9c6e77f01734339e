import { CONTENT_TYPE_HEADER, type ReceivedHeaders } from "./headers.js";

/** The white space is HTTP's own, space and tab; trim() would take away more. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

/** Why a request's headers do not announce JSON as it is, and which value says so; `undefined` where they do. */
export function jsonTypeFault(headers: ReceivedHeaders) {
  const type = headers.all(CONTENT_TYPE_HEADER).join(", ");
  if (!JSON_TYPE.test(type)) return { code: "CONTENT_TYPE_UNSUPPORTED", seen: type } as const;
  const encodings = headers.all("Content-Encoding");
  if (encodings.length > 0)
    return { code: "CONTENT_ENCODING_UNSUPPORTED", seen: encodings.join(", ") } as const;
  return undefined;
}
