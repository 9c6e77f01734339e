import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

const FOLDER = join(import.meta.dirname, "../../docs/images/terminal");
const WIDTHS = [80, 100, 120];
const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/** What is seen without a clock, a port or an id of its own. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  help: ["--help"],
  "explain-401": ["explain", "401"],
  "verify-decoded": ["verify", "request.http", "--ignore-time"],
};

/** Signed with the secret decoded from base64url, as the documentation of `diagnose` has it. */
const REQUEST = `POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1
Host: tenant.example.com
Content-Type: application/json
User-Agent: python-requests/2.32.3
Webhook-Timestamp: 1767225600
Webhook-Event-Id: 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10
Webhook-Signature: 5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA

{"type":"user.offboarded","userId":"u_123"}`;

/** Everything that a command writes to a terminal of so many columns, with its colours. */
async function shown(words: readonly string[], columns: number, home: string): Promise<string> {
  const chunks: string[] = [];
  const stream = () =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          chunks.push(String(chunk));
          done();
        },
      }),
      { isTTY: true, columns },
    );
  await run([...words.map((word) => (word === "request.http" ? join(home, word) : word)), "--color"], {
    stdin: Object.assign(Readable.from([]), { isTTY: false }),
    stdout: stream(),
    stderr: stream(),
    env: { HOME: home, HOOKPROOF_HOME: home, HOOKPROOF_SECRET: SECRET },
    stopSignal: new AbortController().signal,
  });
  return chunks.join("").trimEnd().replaceAll(home, "~");
}

const ESC = String.fromCharCode(27);
const CODES = new RegExp(`${ESC}\\[(\\d+)m`, "g");
const CLASSES: Readonly<Record<string, string>> = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  36: "cyan",
};
const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de } text { font: 13px "Liberation Mono", ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
  .bold { font-weight: 700 } .dim { fill: #57606a } .red { fill: #a40e26 } .green { fill: #116329 } .yellow { fill: #7d4e00 } .cyan { fill: #0a4ea3 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
    .dim { fill: #9198a1 } .red { fill: #ff8a82 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #79c0ff }
  }
`;
const [CHARACTER, LINE] = [7.8, 18];

const escaped = (text: string) => text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);

/** A picture of a terminal, whose words are text: they can be read out, searched and copied. */
function picture(words: readonly string[], text: string, columns: number): string {
  const lines = text.split("\n").map((line, at) => {
    const classes = new Set<string>();
    const spans = line.split(CODES).map((part, index) => {
      if (index % 2 === 0)
        return (
          part &&
          `<tspan${classes.size > 0 ? ` class="${[...classes].join(" ")}"` : ""}>${escaped(part)}</tspan>`
        );
      if (CLASSES[part]) classes.add(CLASSES[part]);
      else classes.clear();
      return "";
    });
    return `<text x="12" y="${24 + at * LINE}" xml:space="preserve">${spans.join("")}</text>`;
  });
  const [width, height] = [Math.ceil(columns * CHARACTER) + 24, lines.length * LINE + 20];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>hookproof ${escaped(words.join(" "))}, in ${columns} columns</title>
<style>${STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${lines.join("\n")}
</svg>
`;
}

/** HOOKPROOF_SCREENSHOTS=1 npx vitest run cli/test/terminal-pictures.test.ts makes them again. */
describe("pictures of a terminal", () => {
  it.each(
    Object.entries(COMMANDS).flatMap(([name, words]) =>
      WIDTHS.map((columns) => [name, columns, words] as const),
    ),
  )(
    "%s in %i columns: as it is printed now, and no line is wider, but a command",
    async (name, columns, words) => {
      const home = temporaryFolder("terminal-picture");
      writeFileSync(join(home, "request.http"), REQUEST.replaceAll("\n", "\r\n"));
      const text = await shown(words, columns, home);
      const lines = text.split("\n").map((line) => line.replace(CODES, ""));
      const wide = lines.filter((line) => line.length > columns);
      expect(lines.length).toBeGreaterThan(5);
      // A command is left whole, so that it can be copied.
      expect(wide.filter((line) => !/^ *hookproof /.test(line))).toEqual([]);
      const file = join(FOLDER, `${name}-${columns}.svg`);
      if (process.env.HOOKPROOF_SCREENSHOTS) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(file, picture(words, text, columns));
      }
      expect(readFileSync(file, "utf8")).toBe(picture(words, text, columns));
    },
  );
});
