// The table of what can happen to a body on its way.
import type { WayChange } from "./way-changes.js";

const RAW = "Let the listener read the body's raw bytes before anything parses it, and capture those.";
const PASS_BODY =
  "Let the proxy or gateway pass the body on as it is; body rewriting and inspection belong off.";
const PARSERS = "body parsers, where what was captured is the parsed body written again";
const MAPPING = "API gateways with a mapping template, workflow tools and queues in between";

/** What happens to the body. */
export const BODY_CHANGES = {
  lost: {
    id: "body-lost",
    title: "No body",
    message: "The body did not arrive.",
    fix: "Look for a redirect that was followed, and for a body parser that had read the stream before.",
    by: [
      "redirects",
      "body parsers that ran before",
      "authentication requests (nginx auth_request, forward auth)",
    ],
  },
  appeared: {
    id: "body-appeared",
    title: "A body that was not sent",
    message: "A body arrived, and none was sent.",
    fix: PASS_BODY,
    by: [MAPPING],
  },
  decompressed: {
    id: "body-decompressed",
    title: "Body decompressed",
    message: "The body was sent compressed and arrived decompressed.",
    fix: "Send the body without Content-Encoding, and sign what is sent.",
    by: [
      "Apache (mod_deflate as an input filter)",
      "body parsers that inflate (Express, ASP.NET's request decompression)",
    ],
  },
  compressed: {
    id: "body-compressed",
    title: "Body compressed",
    message: "The body arrived compressed and was sent as it is.",
    fix: "Turn compression of requests off on the way.",
    by: [],
  },
  bomAdded: {
    id: "body-bom-added",
    title: "A byte order mark added",
    message: "The body arrived with a byte order mark in front.",
    fix: `${RAW} Write files as UTF-8 without a byte order mark.`,
    by: ["editors and .NET's Encoding.UTF8, where the body went through a file"],
  },
  bomLost: {
    id: "body-bom-lost",
    title: "The byte order mark lost",
    message: "The body was sent with a byte order mark and arrived without it.",
    fix: "Send UTF-8 without a byte order mark, and sign the same bytes.",
    by: ["text decoders (TextDecoder, response.text())"],
  },
  charset: {
    id: "body-charset",
    title: "Body in another character set",
    message: "The body holds the same text in another character encoding.",
    fix: `${RAW} Name no charset but utf-8 in Content-Type.`,
    by: [
      "servers and gateways whose default is ISO-8859-1 (Java servlets)",
      "Windows tools (UTF-16)",
      MAPPING,
    ],
  },
  mojibake: {
    id: "body-encoded-twice",
    title: "Body encoded twice",
    message: "The body's UTF-8 was read as another encoding and written as UTF-8 again: é has become Ã©.",
    fix: `${RAW} Decode bytes as UTF-8.`,
    by: [
      "Java servlets (ISO-8859-1 by default)",
      "Node's latin1 or binary strings",
      "databases with a latin1 column",
    ],
  },
  charactersLost: {
    id: "body-characters-lost",
    title: "Characters lost",
    message: "Characters beyond ASCII arrived as ?, as \uFFFD or not at all.",
    fix: `${RAW} Where a body is stored, store bytes or UTF-8.`,
    by: [
      "ASCII or latin1 columns",
      "MySQL's utf8 (utf8mb3) with emoji",
      "decoders that replace what they do not know",
    ],
  },
  normalised: {
    id: "body-unicode-normalised",
    title: "Unicode normalised",
    message:
      "The body's text was brought into another Unicode normal form: é as one character, or as e with an accent.",
    fix: RAW,
    by: ["file systems of macOS", "text sanitisers"],
  },
  lineEnds: {
    id: "body-line-ends",
    title: "Other line ends",
    message: "The body's line ends have changed between LF and CRLF.",
    fix: `${RAW} In a shell: curl --data-binary @body.json.`,
    by: [
      "Git (autocrlf) and editors, where the body went through a file",
      "mail gateways",
      "HTML forms (CRLF)",
      "curl -d (drops line ends)",
    ],
  },
  trimmed: {
    id: "body-trimmed",
    title: "White space at the ends",
    message: "White space at the beginning or the end of the body was added or removed.",
    fix: `${RAW} Do not trim what is signed.`,
    by: [
      "body parsers and templates that trim",
      "echo and editors (a newline at the end)",
      "shells: $(…) drops it",
    ],
  },
  cut: {
    id: "body-cut",
    title: "Body cut off",
    message: "Only the beginning of the body arrived.",
    fix: "Count Content-Length in bytes and not in characters; look for a size limit on the way, and read the stream to its end.",
    by: [
      "senders that count characters for Content-Length",
      "inspection limits of firewalls (WAF)",
      "columns that are too short",
      "listeners that read once (socket.read, php://input in parts)",
    ],
  },
  beginningLost: {
    id: "body-beginning-lost",
    title: "The body's beginning lost",
    message: "Only the end of the body arrived.",
    fix: "Something had read from the stream before. Mount the listener in front of it.",
    by: ["middleware that reads from the body first"],
  },
  extended: {
    id: "body-extended",
    title: "Something behind the body",
    message: "The whole body arrived, and more behind it.",
    fix: PASS_BODY,
    by: ["templates and tools that append", "captures that hold the next request as well"],
  },
  chunks: {
    id: "body-with-chunks",
    title: "Chunk sizes in the body",
    message: "The body arrived with the sizes of its chunks in it.",
    fix: "Decode Transfer-Encoding: chunked before the body is used; a capture without that header shows them as well.",
    by: ["hand-written servers", "CGI behind a proxy that sends chunks", "captures of the wire"],
  },
  base64: {
    id: "body-arrived-in-base64",
    title: "Body in base64",
    message: "The body arrived in base64.",
    fix: "Decode it first: with isBase64Encoded the body of a Lambda event is base64, which lambdaHandler does.",
    by: ["AWS Lambda behind API Gateway and load balancers (isBase64Encoded)", "message queues"],
  },
  stringified: {
    id: "body-stringified",
    title: "Body as a JSON text",
    message: "The body arrived as a JSON string: in quotes, with its own quotes escaped.",
    fix: "Parse once more or once less: somebody called JSON.stringify on a text.",
    by: [MAPPING, "clients that serialise a text as JSON"],
  },
  escaped: {
    id: "body-escaped",
    title: "Body escaped",
    message: "The body arrived escaped for another language: as a form field, for HTML, or with backslashes.",
    fix: `${PASS_BODY} Undo the escaping before the signature is checked only where you know who did it.`,
    by: [
      "body parsers for forms, if Content-Type is application/x-www-form-urlencoded",
      "sanitisers (htmlspecialchars, addslashes)",
      MAPPING,
    ],
  },
  wrapped: {
    id: "body-wrapped",
    title: "Body inside another one",
    message: "The body arrived as one member of a larger JSON object.",
    fix: "Take the text of this member, if it is a text; otherwise let the gateway pass the body on.",
    by: ["AWS Lambda events (body)", "queues and event buses (Message, data, detail)", MAPPING],
  },
  whitespace: {
    id: "body-json-whitespace",
    title: "JSON with other white space",
    message: "The body was written again: the white space between the parts of the JSON is another one.",
    fix: RAW,
    by: [PARSERS, "PostgreSQL's jsonb and MySQL's JSON", "pretty printers of gateways and logs", MAPPING],
  },
  order: {
    id: "body-json-order",
    title: "JSON in another order",
    message: "The body was written again: members of an object stand in another order.",
    fix: RAW,
    by: ["PostgreSQL's jsonb and MySQL's JSON (by length)", "Go maps, and serialisers that sort", MAPPING],
  },
  escapes: {
    id: "body-json-escapes",
    title: "JSON with other escapes",
    message: "The body was written again: characters are escaped that were not, or the other way round.",
    fix: RAW,
    by: [
      "Python (json.dumps writes ASCII)",
      "PHP (json_encode escapes slashes)",
      "Go, Gson, Rails and .NET (escape <, > and &)",
      PARSERS,
    ],
  },
  numbers: {
    id: "body-json-numbers",
    title: "Numbers spelled otherwise",
    message: "The body was written again: numbers have another spelling or lost digits.",
    fix: `${RAW} Send ids of more than 15 digits as text.`,
    by: [
      "JavaScript (1.0 becomes 1, digits beyond 2^53 are lost)",
      "Gson and others that read numbers as doubles (1 becomes 1.0)",
      PARSERS,
    ],
  },
  duplicates: {
    id: "body-json-duplicates",
    title: "Members that stood twice",
    message: "The body was written again: of members with the same name only one is left.",
    fix: "Send each name once.",
    by: [PARSERS],
  },
  names: {
    id: "body-json-names",
    title: "Members renamed",
    message: "Members of the JSON arrived in another spelling: camelCase, snake_case or PascalCase.",
    fix: RAW,
    by: [
      "serialisers with a naming policy (Jackson, .NET, pydantic aliases)",
      "middleware that converts keys",
    ],
  },
  nulls: {
    id: "body-json-nulls",
    title: "Empty members changed",
    message: "Members that are null or empty were left out, added, or turned from an empty text into null.",
    fix: RAW,
    by: ["NON_NULL, exclude_none and omitempty", "Laravel (ConvertEmptyStringsToNull)", PARSERS],
  },
  strings: {
    id: "body-json-trimmed",
    title: "Texts trimmed",
    message: "Texts inside of the JSON have lost white space at their ends.",
    fix: RAW,
    by: ["Laravel (TrimStrings)", "validators that trim"],
  },
  values: {
    id: "body-json-values",
    title: "Other values",
    message: "The body is JSON with other content than was sent.",
    fix: "Look for what edits the payload on the way, and sign behind it or take it out.",
    by: [MAPPING, "redaction of personal data in logs, where the capture is one"],
  },
  changed: {
    id: "body-changed",
    title: "Another body",
    message: "The body has changed, in a way that is not known.",
    fix: "Make sure that both captures are of the same request, and compare their bodies with cmp and xxd.",
    by: [],
  },
} satisfies Record<string, WayChange>;
