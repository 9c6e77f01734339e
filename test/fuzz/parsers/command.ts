// The parsers of files and texts that the command line reads and somebody else may have written.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { readConfigFile } from "../../../cli/src/config/config-file.js";
import { typedUrl } from "../../../cli/src/credentials/checked-url.js";
import { CliError } from "../../../cli/src/failure.js";
import { parseHistoryLine, readExport } from "../../../cli/src/history/history-record.js";
import { jsonMistake } from "../../../cli/src/input/json-mistake.js";
import { textOf } from "../../../cli/src/input/text.js";
import type { Io } from "../../../cli/src/io.js";
import { inertLine } from "../../../cli/src/output.js";
import { DoubledMember, readExact, writeExact } from "../../../cli/src/send/exact-json.js";
import { setMembers } from "../../../cli/src/send/payload.js";
import { pointInTime, signingClock } from "../../../cli/src/times.js";
import { holds, type Parser } from "../parser.js";

const text = (input: Buffer) => input.toString("utf8");
/** A refusal of the command line, which `createOutput` makes inert; an unexpected failure is none. */
const isOurs = (error: unknown) => error instanceof CliError && error.exit !== 1;

let folder: string | undefined;
/** A file with these bytes. */
function fileWith(input: Buffer): string {
  folder ??= mkdtempSync(join(tmpdir(), "hookproof-fuzz-"));
  const path = join(folder, "given");
  writeFileSync(path, input);
  return path;
}

/** Removes what the command line's parsers were given as files. */
export function closeCommand(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
const ioWith = (input: Buffer): Io => ({
  ...{ stdin: Readable.from([input]), stdout: sink(), stderr: sink(), env: {} },
  stopSignal: new AbortController().signal,
});

const EXPORT = JSON.stringify({
  ...{ v: 1, at: 1_767_225_600_000, eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" },
  ...{
    url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
    method: "hmac",
    headers: { "Content-Type": "application/json" },
  },
  ...{ bodyBase64: "eyJhIjoxfQ==", outcome: "accepted", status: 200, scheme: { name: "standard-webhooks" } },
});

export const COMMAND_PARSERS: readonly Parser[] = [
  {
    name: "configuration",
    examples: [
      JSON.stringify({
        ...{ $schema: "x", profile: "dev", url: ":4400", outbox: "outbox.db", keyStore: "keys" },
        profiles: {
          dev: { url: "https://tenant.example.com/a", method: "hmac", secretFiles: ["s.txt"], kid: "k" },
        },
      }),
    ],
    words: ['"profiles":', '"secret":', '"url":', '"outbox":"http://x/"', '"timeout":"10s"'],
    shownBy: inertLine,
    refuses: isOurs,
    read(input) {
      readConfigFile(fileWith(input), { required: true });
      return undefined;
    },
  },
  {
    name: "history",
    examples: [EXPORT, EXPORT.replace(/\}$/, ',"credential":{"kind":"profile","profile":"dev"}}')],
    shownBy: inertLine,
    refuses: isOurs,
    read(input) {
      for (const line of text(input).split("\n")) {
        const record = parseHistoryLine(line);
        holds(record === undefined || typeof record.url === "string", "a record has a URL");
      }
      return undefined;
    },
  },
  {
    name: "exported-event",
    examples: [EXPORT],
    shownBy: inertLine,
    refuses: isOurs,
    async read(input) {
      const { url, headers } = await readExport(ioWith(input), "-");
      holds(/^https?:/.test(url), "an exported event was sent over HTTP");
      holds(
        Object.values(headers).every((value) => !/[\r\n\0]/.test(value)),
        "a header is one line",
      );
      return undefined;
    },
  },
  {
    name: "texts",
    examples: ["\ufeffa\nb", '{"a":1,\n "b":}', '["a" "b"]'],
    shownBy: inertLine,
    refuses: isOurs,
    read(input) {
      const mistake = jsonMistake(textOf(input, "given"));
      return mistake === undefined ? undefined : [mistake];
    },
  },
  {
    name: "exact-json",
    examples: ['{"a":1.0,"b":[1e3,-0,12345678901234567890],"c":"\\"1.0"}', "1.50", '"text"'],
    words: ["1.0", "1e400", "-0", '\\"', ":"],
    shownBy: inertLine,
    refuses: (error) =>
      error instanceof SyntaxError || error instanceof DoubledMember || error instanceof RangeError,
    read(input) {
      const given = text(input);
      const written = writeExact(readExact(given));
      holds(
        JSON.stringify(JSON.parse(written)) === JSON.stringify(JSON.parse(given)),
        "what is written has the value of what was read",
      );
      return undefined;
    },
  },
  {
    name: "set-members",
    examples: ['a.b=1\0{"a":{"b":2}}', "user.name=Zoë\0{}", 'a[0]=1\0{"a":[1]}', "a.__proto__.b=1\0{}"],
    words: [".", "=", "[0]", "__proto__.", "constructor.prototype.", "99999999"],
    shownBy: inertLine,
    refuses: isOurs,
    read(input) {
      const [assignment = "", body = "{}"] = text(input).split("\0");
      setMembers(body, [assignment]);
      holds(Object.keys(Object.prototype).length === 0, "no object gets a member that nobody gave it");
      return undefined;
    },
  },
  {
    name: "times",
    examples: ["1767225600", "2026-01-01", "2026-01-01T00:00:00.5+02:00", "+10m", "-1.5h", "10s"],
    words: ["T", "Z", "+", "99", ".", "d", "24:00"],
    most: 4_096,
    shownBy: inertLine,
    refuses: isOurs,
    read(input) {
      const given = text(input);
      holds(Number.isFinite(signingClock(given).now()), "a clock has a time");
      pointInTime("--since", given);
      return undefined;
    },
  },
  {
    name: "targets",
    examples: [":4400", "localhost:3000/a", "https://tenant.example.com/a", "[::1]:80"],
    words: ["://", ":", "@", "/", "[", "]", "%"],
    most: 4_096,
    shownBy: inertLine,
    refuses: isOurs,
    async read(input) {
      const url = new URL(await typedUrl(text(input), "--url"));
      holds(/^https?:$/.test(url.protocol), "a target is of http or https");
      return undefined;
    },
  },
];
