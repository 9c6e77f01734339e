import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mistakes as catalogue } from "hookproof/diagnose";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { testPostgres } from "../../kit/postgres.js";
import { readVectors } from "../../vectors/vector-file.js";
import { PRINTED } from "./printers/printed.js";

/** What every program prints: a body of every kind of value, and one whose numbers languages write differently. */
const PLAIN =
  '{"userId":4711,"type":"user.offboarded","name":"Zo\u00eb O\'Neil","url":"https://a.example/b?c=<d>&e","quota":3,"rate":1.5,"manager":null,"groups":[{"on":true,"n":1},[]],"meta":{}}';
const NUMBERS = '{"weight":136.0,"limit":1e5,"rate":1.50,"small":0.00001,"count":3}';
/** What was sent, where it is neither of these. */
const SENT: Readonly<Record<string, string>> = {
  "Jackson, NON_NULL": '{"weight":2.5,"count":1,"none":null}',
  "Json.NET, NullValueHandling.Ignore": '{"weight":2.5,"count":1,"none":null}',
  "Json.NET, a class": '{"userId":4711,"type":"user.offboarded","manager":null}',
};

const folder = new URL("printers/", import.meta.url);
const path = (file: string) => fileURLToPath(new URL(file, folder));
const jars = ["core", "databind", "annotations"].map((part) => `/usr/share/java/jackson-${part}.jar`);
const classPath = [...jars, "/usr/share/java/gson.jar"];
const hasJava = classPath.every((jar) => existsSync(jar)) && hasTool("java", "--version");

type Texts = Record<string, string>;
type Printer = readonly [needs: string, isThere: unknown, print: () => Texts | Promise<Texts>];

function program(file: string, ...command: readonly string[]): () => Record<string, string> {
  const [name = "", ...flags] = command;
  return () =>
    JSON.parse(execFileSync(name, [...flags, path(file), PLAIN, NUMBERS], { encoding: "utf8" })) as Record<
      string,
      string
    >;
}

/** What PostgreSQL makes of the texts, each a column. */
async function postgresPrints(url: string): Promise<Record<string, string>> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(
    `SELECT ($1::text::jsonb)::text AS "PostgreSQL, jsonb", ($2::text::jsonb)::text AS "PostgreSQL, jsonb of numbers",
      jsonb_pretty($1::text::jsonb) AS "PostgreSQL, jsonb_pretty",
      json_strip_nulls($1::text::json)::text AS "PostgreSQL, json_strip_nulls"`,
    [PLAIN, NUMBERS],
  );
  await client.end();
  return rows[0] ?? {};
}

const JSON_NET = "/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll";

/** C# is compiled first; the program looks for its library beside itself. */
function csharpPrints(): Texts {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-csharp-"));
  try {
    const file = join(folder, "Print.exe");
    copyFileSync(JSON_NET, join(folder, "Newtonsoft.Json.dll"));
    const libraries = [`-r:${JSON_NET}`, "-r:System.Web.Extensions.dll"];
    execFileSync("mcs", [`-out:${file}`, ...libraries, path("Print.cs")]);
    return JSON.parse(execFileSync("mono", [file, PLAIN, NUMBERS], { encoding: "utf8" })) as Texts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const MARIADB = "/usr/sbin/mariadbd";

/** MariaDB runs statements without becoming a server, and writes what comes out into files. */
function mariadbPrints(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-mariadb-"));
  try {
    const options = ["--no-defaults", "--user=root", "--bootstrap", `--datadir=${folder}`];
    const quoted = `'${PLAIN.replaceAll("'", "''")}'`;
    const print = (name: string) => {
      const file = join(folder, `${name}.txt`);
      const into = `INTO OUTFILE '${file}' CHARACTER SET utf8mb4 FIELDS ESCAPED BY ''`;
      execFileSync(
        MARIADB,
        [...options, "--skip-innodb", "--default-storage-engine=MyISAM", "--character-set-server=utf8mb4"],
        {
          input: `SELECT ${name}(${quoted}) ${into};\n`,
          stdio: ["pipe", "ignore", "ignore"],
        },
      );
      return [`MariaDB, ${name}`, readFileSync(file, "utf8").replace(/\n$/, "")];
    };
    return Object.fromEntries(["JSON_LOOSE", "JSON_DETAILED"].map(print));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const PRINTERS: readonly Printer[] = [
  ["Jackson and Gson", hasJava, program("Print.java", "java", "-cp", classPath.join(":"))],
  ["C#", existsSync(JSON_NET) && hasTool("mcs", "--version"), csharpPrints],
  ["go", hasTool("go", "version"), program("print.go", "go", "run")],
  ["php", hasTool("php", "--version"), program("print.php", "php")],
  ["ruby", hasTool("ruby", "--version"), program("print.rb", "ruby")],
  ["perl", hasTool("perl", "-MJSON::PP", "-e", "1"), program("print.pl", "perl")],
  ["python3", hasTool("/usr/bin/python3", "--version"), program("print.py", "/usr/bin/python3")],
  ["node", true, program("print.mjs", process.execPath)],
  ["PostgreSQL", postgres, () => postgresPrints(postgres?.url ?? "")],
  ["MariaDB", existsSync(MARIADB), mariadbPrints],
];

const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka--xw_R8";
const TIMESTAMP = "1767225600";
const EVENT_ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";

/** A request that was sent as it should be, and signed as a printer wrote it. */
function vectorOf(name: string, text: string) {
  const [mistake, source] = PRINTED[name] ?? [];
  const sent = SENT[name] ?? (/numbers/.test(name) ? NUMBERS : PLAIN);
  return {
    ...{ mistake, name, ...(source === undefined ? {} : { source: `https://github.com/${source}` }) },
    secret: SECRET,
    headers: {
      "Content-Type": "application/json",
      "Webhook-Timestamp": TIMESTAMP,
      "Webhook-Event-Id": EVENT_ID,
      "Webhook-Signature": createHmac("sha256", SECRET)
        .update(`${TIMESTAMP}.${EVENT_ID}.${text}`)
        .digest("base64url"),
    },
    bodyBase64: Buffer.from(sent).toString("base64"),
    signedBodyBase64: Buffer.from(text).toString("base64"),
  };
}

type Vector = ReturnType<typeof vectorOf>;
const vectors = readVectors<{ printed?: Vector[] }>("mistakes.json");

// HOOKPROOF_GENERATE=1 writes what they print, each case on a line.
if (process.env.HOOKPROOF_GENERATE) {
  const file = fileURLToPath(new URL("../../../vectors/mistakes.json", import.meta.url));
  const printed: [string, string][] = [];
  for (const [, isThere, print] of PRINTERS) if (isThere) printed.push(...Object.entries(await print()));
  const lines = printed.map(([name, text]) => `    ${JSON.stringify(vectorOf(name, text))}`);
  const before = readFileSync(file, "utf8").replace(/,\n {2}"printed": \[[\s\S]*$|\n\}\n$/, "");
  writeFileSync(file, `${before},\n  "printed": [\n${lines.join(",\n")}\n  ]\n}\n`);
}

describe("vectors/mistakes.json holds what is printed by", () => {
  for (const [needs, isThere, print] of PRINTERS)
    itWith(needs, isThere)(needs, async () => {
      const printed = await print();
      expect(Object.keys(printed).length).toBeGreaterThan(1);
      for (const [name, text] of Object.entries(printed))
        expect(vectors.printed, name).toContainEqual(vectorOf(name, text));
    });

  it("each name of the list, with a mistake that exists", async () => {
    expect(vectors.printed?.map(({ name }) => name).sort()).toEqual(Object.keys(PRINTED).sort());
    const ids = (await catalogue()).map(({ id }) => id);
    for (const [id] of Object.values(PRINTED)) expect(ids).toContain(id);
  });
});
