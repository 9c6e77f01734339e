import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../src/main.js";
import { terminalLayout } from "../src/terminal/layout.js";

const WIDTHS = [60, 80, 100, 120];
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

const home = mkdtempSync(join(tmpdir(), "hookproof-layout-"));
const server = createServer((request, response) => {
  request.resume();
  const last = request.url?.split("/").at(-1);
  if (last === "lst_limited") response.writeHead(429, { "Retry-After": "0" }).end();
  else response.writeHead(last === "lst_1" ? 200 : 401).end();
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  writeFileSync(join(home, "token"), token, { mode: 0o600 });
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true });
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = `${part({ alg: "ES256", kid: "key-1" })}.${part({ iss: "https://issuer.example.com", iat: 1 })}.AAAA`;

/** What a command writes to a terminal of so many columns, or to a pipe. */
async function seen(words: readonly string[], columns?: number, colour = "--no-color"): Promise<string[]> {
  const chunks: string[] = [];
  const stream = () =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          if (!String(chunk).startsWith("\r")) chunks.push(String(chunk)); // a bar of progress
          done();
        },
      }),
      columns === undefined ? {} : { isTTY: true, columns },
    );
  const io = {
    stdin: Object.assign(Readable.from([]), { isTTY: false }),
    stdout: stream(),
    stderr: stream(),
    env: { HOME: home, HOOKPROOF_HOME: join(home, "data"), HOOKPROOF_SECRET: SECRET },
    stopSignal: new AbortController().signal,
  };
  await run([...words, colour], io);
  return chunks.join("").trimEnd().split("\n");
}

const send = (id: string) => {
  const { port } = server.address() as AddressInfo;
  return seen([
    "send",
    `http://127.0.0.1:${port}/api/v1/webhooks/incoming/${id}`,
    "--data",
    '{"type":"user.offboarded"}',
    "--retries",
    "0",
  ]);
};

describe("output in a terminal", () => {
  it.each(WIDTHS)("says in %i columns what it says in a pipe, in whole words that fit", async (columns) => {
    const words = (lines: readonly string[]) => lines.join(" ").split(/\s+/);
    const piped = await seen(["explain", "401"]);
    const lines = await seen(["explain", "401"], columns);
    expect(words(lines)).toEqual(words(piped));
    // A command that is longer than the line is left whole, for a terminal copies it so.
    const tooLong = lines.filter((line) => line.length > columns);
    expect(tooLong.every((line) => line.trim().startsWith("hookproof "))).toBe(true);
    expect(lines.join("\n")).toMatch(
      /hookproof events export last \| hookproof verify - --secret-file <path>/,
    );
    expect(piped.filter((line) => line.startsWith("  cause"))).toHaveLength(1);
  });

  it("goes on under the column where a text begins", async () => {
    expect((await seen(["explain", "401"], 80)).slice(0, 6)).toMatchInlineSnapshot(`
      [
        "HTTP status 401",
        "  says       The signature or the token was refused, or is missing.",
        "  cause      Likely: another secret or key than the listener's own; a listener",
        "             of the other method (HMAC or JWT); a secret that was decoded,",
        "             trimmed or quoted on its way here; a proxy that changed the body; a",
        "             key set that the service cannot fetch, or that lacks the key; a",
      ]
    `);
  });

  it("lists events with their types in rows that fit 80 columns, with the beginning of an id that finds the event", async () => {
    await send("lst_1");
    await send("lst_2");
    const [head, ...rows] = (await seen(["events", "list"], 80)).slice(0, 3);
    expect(head?.split(/ {2,}/)).toEqual(["", "sent", "answer", "type", "event", "listener"]);
    for (const row of rows) {
      expect(row.length).toBeLessThanOrEqual(80);
      expect(row).toMatch(
        /^[✔✖] \d\d:\d\d:\d\dZ {2}(?:200|401) {5}user\.offboarded {2}[0-9a-f]{8}… {2}127\.0\.0\.1:\d+\/…\/lst_[12]$/,
      );
    }
    const [, id = ""] = /([0-9a-f]{8}…)/.exec(rows[0] ?? "") ?? [];
    expect((await seen(["events", "show", id], 80)).join("\n")).toContain("lst_2");
    const whole = /[0-9a-f]{8}-[0-9a-f-]{27} {2}401 \w+ {2}user\.offboarded {2}http:\/\/127/;
    expect((await seen(["events", "list"]))[0]).toMatch(whole);
    expect((await seen(["events", "list", "-v"], 200))[0]).toMatch(whole);
    const listed = JSON.parse((await seen(["events", "list", "--json"]))[0] ?? "") as { events: object[] };
    expect(listed.events[0]).toMatchObject({ eventType: "user.offboarded", status: 401 });
    // Of a listener's id that no person has chosen, the beginning is enough.
    await send("HjG0vLnw5T3CkoKCLjHUENOoZM5");
    const [, long] = await seen(["events", "list"], 80);
    expect(long).toMatch(/ 127\.0\.0\.1:\d+\/…\/HjG0vLnw…$/);
    expect(long?.length).toBeLessThanOrEqual(80);
  });

  it("colours labels, what to run next and JSON, and a pipe none of the JSON", async () => {
    const lines = (await seen(["inspect", join(home, "token")], 80, "--color")).join("\n");
    expect(lines).toContain('\u001b[36m"alg"\u001b[39m:\u001b[32m"ES256"\u001b[39m');
    expect(lines).toContain("\u001b[36miss\u001b[39m");
    expect((await seen(["inspect", join(home, "token")])).join("\n")).toContain('{"alg":"ES256"');
    await send("lst_1");
    expect((await seen(["events", "list"], 80, "--color")).join("\n")).toContain(
      "\u001b[36mnext:\u001b[39m \u001b[1mhookproof",
    );
  });

  it("lays a coloured note out as it does a plain one", async () => {
    const lines = (await seen(["secret", "generate", "--profile", "of-colour"], 40, "--color"))
      .join("\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the colours
      .replace(/\u001b\[\d+m/g, "");
    expect(lines).toMatch(
      /^next: hookproof secret show --reveal --profile of-colour\n {6}to give it to the listener$/m,
    );
  });

  it.each([40, 60, 80, 120])(
    "lists the probes in %i columns, each title under its own beginning",
    async (columns) => {
      const lines = await seen(["test", "--list"], columns);
      expect(lines.filter((line) => line.length > Math.max(columns, 54))).toEqual([]);
      // Under its beginning, or below its row where too few columns are left.
      const columnsOfTitles = new Set(
        lines.filter((line) => line.startsWith(" ")).map((line) => line.search(/\S/)),
      );
      expect([...columnsOfTitles].sort()).toEqual({ 40: [4], 60: [4], 80: [4, 54], 120: [54] }[columns]);
    },
  );
});

describe("the report of hookproof test in a terminal", () => {
  const probe = (...more: string[]) => probeOf("lst_2", ...more);
  const probeOf = (listener: string, ...more: string[]) => {
    const { port } = server.address() as AddressInfo;
    return [
      "test",
      `http://127.0.0.1:${port}/api/v1/webhooks/incoming/${listener}`,
      "--allow-trigger",
      "--only",
      "*correct*",
      "--only",
      "signature-*",
      ...more,
    ];
  };

  it("ends with the verdict and its fix, in lines that fit, and makes a number of the passes", async () => {
    const lines = await seen(probe(), 80);
    const counts = lines.findIndex((line) => /^✖ \d+ pass, \d+ fail/.test(line));
    const verdict = lines.findLastIndex((line) => line.startsWith("✖ "));
    expect(counts).toBeGreaterThan(0);
    expect(verdict).toBeGreaterThan(counts);
    expect(lines[verdict + 1] ?? "").not.toBe("");
    expect(lines.slice(verdict).join("\n")).toContain("  fix     ");
    expect(lines.filter((line) => line.startsWith("✔"))).toEqual([]);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    // In a pipe the verdict comes first, for what reads only the beginning.
    expect((await seen(probe()))[1]).toMatch(/^✖ /);
  });

  it("gives the one reason where nothing was proved, and with -v each answer", async () => {
    const lines = await seen(probeOf("lst_limited"), 80);
    expect(lines.slice(1).join(" ").replace(/\s+/g, " ")).toMatch(
      /^✖ Nothing was proved: \d+ of \d+ answers were 429\. .* 0 pass, 0 fail, \d+ unclear, 0 skipped; -v shows each$/,
    );
    expect((await seen(probeOf("lst_limited", "-v"), 80)).length).toBeGreaterThan(30);
    expect((await seen(probeOf("lst_limited"))).length).toBeGreaterThan(30);
  });
});

describe("the layout", () => {
  it("counts columns and not characters", () => {
    expect(terminalLayout.line("  名前         ああああ ああああ ああああ ああああ", 40).split("\n")).toEqual(
      ["  名前         ああああ ああああ", "               ああああ ああああ"],
    );
  });

  it("leaves a command whole and puts below it what it does", () => {
    const line = "next: hookproof outbox dead --outbox some-name.db      why they could not be delivered";
    expect(terminalLayout.line(line, 60)).toBe(
      "next: hookproof outbox dead --outbox some-name.db\n      why they could not be delivered",
    );
  });

  it("leaves a command whole that is given a name", () => {
    const line = "There are no profiles yet. Make one with: hookproof profile add staging --target <url>";
    expect(terminalLayout.line(line, 80).split("\n")).toEqual([
      "There are no profiles yet. Make one with:",
      "  hookproof profile add staging --target <url>",
    ]);
  });

  /** Whether a text stays on one line wherever it comes to stand. */
  const isWhole = (text: string) =>
    Array.from({ length: 40 }, (_, words) => `${"x ".repeat(words)}${text} and more words that come`).every(
      (line) =>
        terminalLayout
          .line(line, 60)
          .split("\n")
          .some((one) => one.includes(text)),
    );

  it.each([
    "hookproof keys list",
    "hookproof help send",
    "hookproof outbox dead --outbox app.db",
    'hookproof send --data "a b c"',
    "hookproof send --data 'a b c'",
    "hookproof send --data <a file>",
    "hookproof keys generate --alg ES256",
    "curl -H name",
    "hookproof send --data a,b --json",
    "hookproof send '{}' --json",
    "hookproof verify - --json",
    "hookproof replay last",
    "hookproof send :4400",
    "hookproof send ./a ~/b /c @d",
    "hookproof profile add staging --target <url>",
    "hookproof events export last | hookproof verify -",
    "hookproof sign --curl | hookproof verify - --json",
    "curl -s https://a.example/x",
    "(hookproof keys list)",
    "npm -g",
    '"a text in quotes"',
    'says="a text in quotes".',
  ])("never breaks what is copied: %s", (text) => {
    expect(isWhole(text)).toBe(true);
  });

  it.each([
    "hookproof is a",
    "hookproof Serve",
    "hookproof send staging",
    "hookproof send, --json",
    "hookproof keys list --json; --kid",
    "hookproof keys list | sort",
    "hookproof send staging later",
    "hookproof jwks Serve",
    "outbox dead",
    "not hookproofs --json",
    "npm install",
    "<two words>",
    "'two words'",
    'says "one" and "two"',
    '"a text in quotes that has more than forty characters in all"',
    'a "quote that has no end',
  ])("may break what is none: %s", (text) => {
    expect(isWhole(text)).toBe(false);
  });

  it("is never narrower than 30 columns, nor wider than 200", () => {
    const line = "word ".repeat(60).trim();
    const widest = (columns: number) =>
      Math.max(
        ...terminalLayout
          .line(line, columns)
          .split("\n")
          .map((one) => one.length),
      );
    expect([widest(1), widest(30), widest(36)]).toEqual([26, 26, 36]);
    expect([widest(199), widest(200), widest(1_000)]).toEqual([194, 194, 194]);
    expect(terminalLayout.line("x".repeat(40), 40)).toBe("x".repeat(40));
  });

  it.each([
    // Under the text behind a label; two columns in where there is none, or where it takes half of the line.
    [
      "  fix  one two three four five six seven eight nine",
      ["  fix  one two three four five six seven", "       eight nine"],
    ],
    [
      "✔ ok  one two three four five six seven eight nine",
      ["✔ ok  one two three four five six seven", "      eight nine"],
    ],
    [
      "  one two three four five six seven eight nine",
      ["  one two three four five six seven", "    eight nine"],
    ],
    [
      "a label of 21 letters  one two three four five six",
      ["a label of 21 letters  one two three", "  four five six"],
    ],
    [
      '{"a":1}  one two three four five six seven eight',
      ['{"a":1}  one two three four five six', "  seven eight"],
    ],
    // Too few columns behind the label: the text goes below it.
    [
      "a label of 16 ch  one two three four five six seven",
      ["a label of 16 ch", "    one two three four five six seven"],
    ],
    // What has no blank stays whole.
    [
      `  url  https://a.example/${"x".repeat(30)} word`,
      [`  url  https://a.example/${"x".repeat(30)}`, "       word"],
    ],
    // What is run next is never broken, and a note of it goes below.
    [
      "next: hookproof keys list --store /a/very/long/path",
      ["next: hookproof keys list --store /a/very/long/path"],
    ],
    [
      "\u001b[2mnext:\u001b[22m one two three four five six seven eight",
      ["\u001b[2mnext:\u001b[22m one two three four five six", "  seven eight"],
    ],
    [
      "\u001b[36m  fix\u001b[39m  one two three four five six seven eight nine",
      ["\u001b[36m  fix\u001b[39m  one two three four five six seven", "       eight nine"],
    ],
  ])("breaks in 40 columns: %j", (line, lines) => {
    expect(terminalLayout.line(line, 40).split("\n")).toEqual(lines);
  });

  it("puts cells under each other, numbers to the right, and wraps the last one under its beginning", () => {
    expect(
      terminalLayout.table(
        ["name", "n", "says"],
        [
          ["one", 5, "word ".repeat(8).trim()],
          ["twenty", 12, "x"],
          ["none", "-", "y"],
        ],
        40,
      ),
    ).toEqual([
      "name     n  says",
      "one      5  word word word word word",
      "            word word word",
      "twenty  12  x",
      "none     -  y",
    ]);
    const below = terminalLayout.table([], [["a name of 30 letters or so...", "word ".repeat(8).trim()]], 40);
    expect(below).toEqual([
      "a name of 30 letters or so...",
      "    word word word word word word word",
      "    word",
    ]);
  });

  it("paints JSON, labels and notes, and nothing else", () => {
    const paint = (colour: string, text: string) => `<${colour} ${text}>`;
    expect(terminalLayout.highlighted('{"a\\"b": [-1.5e+3, true, null, "x\\\\"]}', paint)).toBe(
      '{<cyan "a\\"b">: [<yellow -1.5e+3>, <yellow true>, <yellow null>, <green "x\\\\">]}',
    );
    expect(terminalLayout.labelled("  last answer   200", paint)).toBe("  <cyan last answer>   200");
    expect(terminalLayout.labelled("  fix  it", paint)).toBe("  <cyan fix>  it");
    for (const plain of ["last  200", "  Last  200", "  last", "  last  ", "         last  200"])
      expect(terminalLayout.labelled(plain, paint)).toBe(plain);
    expect(terminalLayout.noted("✔ next: hookproof keys list   shows them", paint)).toBe(
      "<dim ✔ ><cyan next:> <bold hookproof keys list><dim    shows them>",
    );
    expect(terminalLayout.noted("next: hookproof keys list", paint)).toBe(
      "<cyan next:> <bold hookproof keys list>",
    );
    expect(terminalLayout.noted("a note", paint)).toBe("<dim a note>");
  });

  it("puts the last column of a table below the others where it would be too narrow", () => {
    const rows = [
      ["10:00:00", "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", "billing", 3, "503 with words of its own"],
    ];
    const head = ["due", "event id", "listener", "attempts", "last answer"];
    expect(terminalLayout.table(head, rows, 80)).toEqual([
      "due       event id                              listener  attempts",
      "    last answer",
      "10:00:00  0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10  billing          3",
      "    503 with words of its own",
    ]);
    expect(terminalLayout.table(head, rows, 120)).toHaveLength(2);
    // Where the others do not fit a line themselves, no cell is broken, and no blanks are left of the columns.
    const long = [
      ["2026-11-30T10:00:00Z", "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", "billing", 3, "no answer", ""],
    ];
    expect(terminalLayout.table([...head, "key"], long, 66)).toEqual([
      "due  event id  listener  attempts  last answer",
      "    key",
      "2026-11-30T10:00:00Z  0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
      "    billing  3  no answer",
    ]);
  });

  it("lists what waits in an outbox in rows that fit 80 columns", async () => {
    const file = join(home, "app.db");
    const store = sqliteStore({ open: () => openSqlite(file, { from: import.meta.url }) });
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_9`;
    const listeners = { billing: { url, signer: hmacSigner({ secret: SECRET }) } };
    const outbox = createOutbox({ store, listeners, quiet: true });
    for (const n of [1, 2]) await outbox.enqueue({ listener: "billing", payload: { n }, orderingKey: "u_1" });
    await outbox.drain();
    await outbox[Symbol.asyncDispose]();
    const [head, first, second, more, next] = await seen(["outbox", "list", "--outbox", file], 80);
    expect(head).toMatch(/^due +event +listener +attempts +key +last answer$/);
    const event = /^\d\d[:-]\d\d[: ]\d\d(?:Z|:\d\d) +[0-9a-f]{8}… +billing +(\d) +u_1 +(.+)$/;
    expect(event.exec(first ?? "")?.slice(1)).toEqual(["1", "401 AUTHENTICATION_REFUSED"]);
    expect(event.exec(second ?? "")?.slice(1)).toEqual([
      "0",
      expect.stringMatching(/^waits behind [0-9a-f]{8}…, waiting$/),
    ]);
    expect(more).toMatch(/^ {40,}since \d{4}-/);
    expect(next).toMatch(/^next: hookproof outbox attempts [0-9a-f-]{36} --outbox /);
    for (const line of [head, first, second, more]) expect(line?.length).toBeLessThanOrEqual(80);
    const [whole] = await seen(["outbox", "list", "--outbox", file]);
    expect(whole).toMatch(/event id .*ordering key +waits behind$/);
  });
});
