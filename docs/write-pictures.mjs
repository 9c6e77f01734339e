// @ts-check
// Draws the pictures of docs/how-it-works.md and README: node docs/write-pictures.mjs [--check]
// Each has a ground of its own, so that it can be read on a light page and on a dark one.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "images");
/** Width of a character by its height, in the widest of the fonts that a reader may have. */
const CHARACTER = 0.53;
const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de }
  text { font: 14px -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 650 } .small { font-size: 12.5px; fill: #57606a }
  .box { fill: #f6f8fa; stroke: #afb8c1 } .good { fill: #dafbe1; stroke: #1a7f37 } .bad { fill: #ffebe9; stroke: #cf222e }
  .chosen { fill: #ddf4ff; stroke: #0969da } .line { fill: none; stroke: #57606a; stroke-width: 1.5 } .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 } .small { fill: #9198a1 }
    .box { fill: #161b22; stroke: #484f58 } .good { fill: #12261e; stroke: #3fb950 } .bad { fill: #25171c; stroke: #f85149 }
    .chosen { fill: #121d2f; stroke: #58a6ff } .line { stroke: #9198a1 } .head { fill: #9198a1 }
  }
`;

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/**
 * A box with a title and lines below it. It throws where a line does not fit.
 *
 * @param {number} x @param {number} y @param {number} width @param {readonly string[]} lines @param {string} [kind]
 */
function box(x, y, width, [title = "", ...lines], kind = "box") {
  const height = 34 + lines.length * 18;
  for (const [line, size] of [[title, 14], ...lines.map((one) => [one, 12.5])]) {
    if (String(line).length * Number(size) * CHARACTER > width - 16)
      throw new Error(`"${line}" does not fit into ${width}`);
  }
  const text = lines.map(
    (line, index) => `<text class="small" x="${x + 10}" y="${y + 41 + index * 18}">${escaped(line)}</text>`,
  );
  return [
    `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    `<text class="title" x="${x + 10}" y="${y + 22}">${escaped(title)}</text>`,
    ...text,
  ].join("\n");
}

/** An arrow along points, with words beside its first part. @param {readonly (readonly [number, number])[]} points @param {string} [words] */
function arrow(points, words = "") {
  const [x1 = 0, y1 = 0] = points[0] ?? [];
  const [x2 = 0, y2 = 0] = points[1] ?? [];
  const path = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join(" ");
  const [at, anchor] =
    y1 === y2 ? [[(x1 + x2) / 2, y1 - 7], "middle"] : [[x1 + 8, (y1 + y2) / 2 + 4], "start"];
  return `<path class="line" d="${path}" marker-end="url(#head)"/>${
    words && `<text class="small" x="${at[0]}" y="${at[1]}" text-anchor="${anchor}">${escaped(words)}</text>`
  }`;
}

/** @param {number} x @param {number} y @param {string} words */
const note = (x, y, words) => `<text class="small" x="${x}" y="${y}">${escaped(words)}</text>`;

/** @param {number} width @param {number} height @param {string} says @param {readonly string[]} parts */
function picture(width, height, says, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(says)}</title>
<style>${STYLE}</style>
<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path class="head" d="M0 0L9 4L0 8z"/></marker></defs>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${parts.join("\n")}
</svg>
`;
}

const PICTURES = {
  "how-it-works.svg": picture(
    880,
    262,
    "Your transaction stores a row and its event; a worker signs each attempt and sends it; the listener checks it and runs once for each id.",
    [
      box(
        20,
        30,
        190,
        ["Your transaction", "UPDATE users …", "outbox.enqueue(event)", "COMMIT: both or neither"],
        "chosen",
      ),
      arrow([
        [210, 74],
        [258, 74],
      ]),
      box(260, 30, 170, ["A table of yours", "id and bytes, fixed", "PostgreSQL or SQLite"]),
      arrow([
        [430, 74],
        [478, 74],
      ]),
      box(480, 30, 170, ["A worker", "signs each attempt", "same id, same bytes"]),
      arrow(
        [
          [650, 74],
          [698, 74],
        ],
        "POST",
      ),
      box(700, 30, 160, ["The listener", "signature, time, id", "runs once for an id"]),
      arrow([
        [780, 100],
        [780, 152],
      ]),
      box(20, 154, 190, ["5xx, 429, no answer", "again later, for 6 days", "and 23 hours"]),
      box(260, 154, 170, ["409", "it had arrived: done"], "good"),
      box(480, 154, 170, ["401", "why: in a sentence"], "bad"),
      box(700, 154, 160, ["200", "delivered"], "good"),
      '<path class="line" d="M700 180H650 M480 180H430 M260 180H210" stroke-dasharray="4 4"/>',
      arrow([
        [115, 154],
        [115, 138],
        [565, 138],
        [565, 104],
      ]),
      note(
        20,
        246,
        "The listener remembers ids for 7 days, so a second attempt never runs an automation twice.",
      ),
    ],
  ),
  "signing.svg": picture(
    880,
    230,
    "Time, event id and the bytes of the body are joined by dots; HMAC-SHA256 with the secret's text as key; base64url without padding.",
    [
      box(20, 24, 210, ["Webhook-Timestamp", "1767225600"]),
      box(20, 84, 210, ["Webhook-Event-Id", "0b0f2b3e-6f3c-4c1d-…"]),
      box(20, 144, 210, ["The body's bytes", '{"type":"user.offboarde…']),
      arrow([
        [230, 50],
        [266, 50],
        [266, 104],
        [288, 104],
      ]),
      arrow([
        [230, 110],
        [288, 110],
      ]),
      arrow([
        [230, 170],
        [266, 170],
        [266, 116],
        [288, 116],
      ]),
      box(290, 76, 190, ["{time}.{id}.{body}", "joined by dots, as bytes"], "chosen"),
      arrow([
        [480, 106],
        [528, 106],
      ]),
      box(530, 76, 140, ["HMAC-SHA256", "32 bytes"]),
      arrow([
        [670, 106],
        [683, 106],
      ]),
      box(685, 76, 178, ["Webhook-Signature", "base64url, no padding"], "good"),
      box(530, 148, 334, [
        "The secret's text is the key",
        "as it stands: not decoded, no newline at its end",
      ]),
      arrow([
        [600, 148],
        [600, 130],
      ]),
      note(
        20,
        216,
        "A token (JWT) instead carries the SHA-256 of the body as htb_s256, the id as jti and the URL as aud.",
      ),
    ],
  ),
  "key-rotation.svg": picture(
    880,
    230,
    "The new key is published 15 minutes before it signs; the old one stays in the set 15 minutes after its last signature.",
    [
      note(20, 30, "time →"),
      box(20, 44, 470, ["The old key signs", "it is in the set"], "good"),
      box(490, 44, 240, ["The old key is retired", "in the set, signs nothing"]),
      box(250, 112, 240, ["The new key is published", "in the set, signs nothing"]),
      box(490, 112, 370, ["The new key signs", "it is in the set"], "good"),
      '<path class="line" d="M250 38V180 M490 38V180 M730 38V180" stroke-dasharray="4 4"/>',
      note(256, 196, "publish"),
      note(496, 196, "sign, and retire the old one"),
      note(736, 196, "remove"),
      note(310, 214, "15 minutes or more"),
      note(550, 214, "15 minutes or more"),
    ],
  ),
  "why-401.svg": picture(
    880,
    330,
    "A 401: is there a proof, is the secret the same, is the body the same? Each answer leads to a cause.",
    [
      box(20, 24, 230, ["Did a proof arrive?", "Webhook-Signature, or", "Authorization: Bearer"], "chosen"),
      arrow(
        [
          [250, 60],
          [318, 60],
        ],
        "no",
      ),
      box(
        320,
        24,
        540,
        [
          "SIGNATURE_MISSING, TOKEN_MISSING",
          "the sides disagree on the method, or a proxy dropped the header",
        ],
        "bad",
      ),
      arrow(
        [
          [135, 94],
          [135, 118],
        ],
        "yes",
      ),
      box(20, 120, 230, ["The same secret?", "compare secretFingerprint"], "chosen"),
      arrow(
        [
          [250, 146],
          [318, 146],
        ],
        "no",
      ),
      box(
        320,
        120,
        540,
        [
          "another secret, or one with a newline or quotes",
          "of another listener, an old one, or read from a file as it is",
        ],
        "bad",
      ),
      arrow(
        [
          [135, 172],
          [135, 196],
        ],
        "yes",
      ),
      box(20, 198, 230, ["The same body?", "compare their SHA-256"], "chosen"),
      arrow(
        [
          [250, 224],
          [318, 224],
        ],
        "no",
      ),
      box(
        320,
        198,
        540,
        [
          "something parsed it and wrote it again",
          "JSON middleware before the check, another encoding, a proxy",
        ],
        "bad",
      ),
      arrow(
        [
          [135, 250],
          [135, 274],
        ],
        "yes",
      ),
      box(20, 276, 230, ["hookproof verify"], "good"),
      note(
        264,
        298,
        "repeats the known mistakes (decoded secret, order of parts, hex) until one explains it",
      ),
    ],
  ),
};

let stale = false;
for (const [name, svg] of Object.entries(PICTURES)) {
  const path = join(FOLDER, name);
  if (!process.argv.includes("--check")) writeFileSync(path, svg);
  else if (readFileSync(path, "utf8") !== svg) stale = true;
}
if (stale) {
  console.error("docs/images is stale: node docs/write-pictures.mjs");
  process.exitCode = 1;
}
