import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generateSecret, newEventId } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { afterEach, describe, expect, it } from "vitest";
import { heldPort } from "../../../kit/held-port.mjs";
import { describeWith } from "../../../kit/needs.js";
import { hasTool } from "../../../kit/outside-tool.js";

const folder = new URL("./", import.meta.url);
const path = (file: string) => fileURLToPath(new URL(file, folder));
const page = readFileSync(new URL("../../../../docs/guides/frameworks.md", import.meta.url), "utf8");

const secret = generateSecret();
/** A connection for each request: a server may close one that is kept just when the next request comes. */
const FRESH = { "Content-Type": "application/json", Connection: "close" };
/** What every way to write it again changes. */
const BODY = '{"type":"user.offboarded", "name":"Zo\u00eb <b> & co", "gone":null}';
const WRITTEN_AGAIN = '{"type":"user.offboarded","name":"Zo\u00eb <b> & co","gone":null}';
const PYTHON = '{"type": "user.offboarded", "name": "Zo\\u00eb <b> & co", "gone": null}';

interface Framework {
  readonly needs: string;
  readonly isThere: unknown;
  readonly run: readonly string[];
  /** The mistake that the framework invites, and what its listener then takes for the body. */
  readonly invites: string;
  readonly signed: string;
}

const node = { needs: "node", isThere: true, invites: "body-compact", signed: WRITTEN_AGAIN };
const hasNodeFolder = existsSync(path("node/node_modules/koa"));
const program = (file: string) => [process.execPath, path(file)];
const python = (file: string, ...modules: readonly string[]) => ({
  needs: `python3-${modules[0]}`,
  isThere: hasTool("/usr/bin/python3", "-c", `import ${modules.join(", ")}`),
  run: ["/usr/bin/python3", path(file)],
});

const jar = (name: string) => `/usr/share/java/${name}.jar`;
const SPRING = [
  ..."core beans context aop expression web web.servlet".split(" ").map((part) => jar(`spring3-${part}`)),
  ..."server servlet http io util util-ajax security".split(" ").map((part) => jar(`jetty9-${part}`)),
  ..."core databind annotations".split(" ").map((part) => jar(`jackson-${part}`)),
  ...["servlet-api", "commons-logging"].map(jar),
];
const LARAVEL = "/usr/share/php/Illuminate/autoload.php";

const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  "express.mjs": { ...node, run: program("express.mjs") },
  "fastify.mjs": { ...node, run: program("fastify.mjs") },
  "hono.mjs": { ...node, run: program("hono.mjs") },
  "next.mjs": { ...node, run: program("next.mjs") },
  "koa.mjs": { ...node, needs: "koa", isThere: hasNodeFolder, run: program("koa.mjs") },
  "nest.mjs": { ...node, needs: "Nest", isThere: hasNodeFolder, run: program("nest.mjs") },
  "flask_listener.py": { ...python("flask_listener.py", "flask"), invites: "body-spaced", signed: PYTHON },
  "django_listener.py": { ...python("django_listener.py", "django"), invites: "body-spaced", signed: PYTHON },
  "fastapi_listener.py": {
    ...python("fastapi_listener.py", "fastapi", "uvicorn"),
    invites: "body-nulls-left-out",
    signed: PYTHON.replace(', "gone": null', ""),
  },
  "sinatra.rb": {
    needs: "ruby-sinatra",
    isThere: hasTool("ruby", "-e", 'require "sinatra/base"; require "webrick"'),
    run: ["ruby", path("sinatra.rb")],
    invites: "body-indented",
    signed: JSON.stringify(JSON.parse(BODY), null, 2),
  },
  "rails.rb": {
    needs: "ruby-railties",
    isThere: hasTool("ruby", "-e", 'require "action_controller/railtie"; require "webrick"'),
    run: ["ruby", path("rails.rb")],
    invites: "body-html-escaped",
    signed: '{"type":"user.offboarded","name":"Zo\u00eb \\u003cb\\u003e \\u0026 co","gone":null}',
  },
  "listener.go": {
    needs: "go",
    isThere: hasTool("go", "version"),
    run: ["go", "run", path("listener.go")],
    invites: "body-keys-sorted",
    signed: '{"gone":null,"name":"Zo\u00eb \\u003cb\\u003e \\u0026 co","type":"user.offboarded"}',
  },
  "listener.php": {
    needs: "php",
    isThere: hasTool("php", "--version"),
    run: ["php", "-S", "127.0.0.1:PORT", path("listener.php")],
    invites: "body-empty-object",
    signed: "[]",
  },
  "laravel.php": {
    needs: "Laravel",
    isThere: existsSync(LARAVEL) && hasTool("php", "--version"),
    run: ["php", "-S", "127.0.0.1:PORT", path("laravel.php")],
    invites: "body-ascii-escaped",
    signed: PYTHON.replaceAll('": ', '":').replaceAll(", ", ","),
  },
  "Spring.java": {
    needs: "Spring",
    isThere: SPRING.every((file) => existsSync(file)) && hasTool("java", "--version"),
    // Spring 4.3 of Debian reads no newer classes.
    run: ["java", "--source", "8", "-cp", SPRING.join(":"), path("Spring.java")],
    invites: "body-compact",
    signed: WRITTEN_AGAIN,
  },
};

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function start(run: readonly string[], variant: "right" | "wrong"): Promise<string> {
  const port = await heldPort();
  const [command = "", ...args] = run.map((part) => part.replace("PORT", String(port)));
  const env = { ...process.env, PORT: String(port), LISTENER_SECRET: secret, LISTENER: variant };
  // A group of its own, as go run and php start processes themselves.
  const child = spawn(command, args, { env, detached: true, stdio: "ignore" });
  stops.push(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
  const answers = () =>
    fetch(url, { method: "POST", body: "{}", headers: FRESH }).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(answers).toBeGreaterThan(0);
  return url;
}

/** A request with this body, and the signature of that one. */
function request(signed: string) {
  const [timestamp, eventId] = [String(Math.floor(Date.now() / 1000)), newEventId()];
  const input = `${timestamp}.${eventId}.${signed}`;
  const headers = {
    ...FRESH,
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
    "Webhook-Signature": createHmac("sha256", secret).update(input).digest("base64url"),
  };
  return { method: "POST", headers, body: BODY };
}

const statusOf = async (url: string, signed: string) => (await fetch(url, request(signed))).status;

/** The lines of a program between its two markers, as the page shows them. */
function shownLines(file: string): string {
  const [, lines = ""] =
    /^[ \t]*(?:\/\/|#) --- page\n([\s\S]*?)^[ \t]*(?:\/\/|#) ---$/m.exec(readFileSync(path(file), "utf8")) ??
    [];
  const indent = /^[ \t]*/.exec(lines)?.[0] ?? "";
  return lines.replaceAll(new RegExp(`^${indent}`, "gm"), "").trim();
}

for (const [file, { needs, isThere, run, invites, signed }] of Object.entries(FRAMEWORKS))
  describeWith(needs, isThere)(file, () => {
    it("accepts what is right and refuses what is not, as the page has it", async () => {
      const url = await start(run, "right");
      expect(await statusOf(url, BODY)).toBe(200);
      expect(await statusOf(url, signed)).toBe(401);
    });

    it("with the mistake it invites refuses what is right, and diagnose names the mistake", async () => {
      const url = await start(run, "wrong");
      expect(await statusOf(url, BODY)).toBe(401);
      expect(await statusOf(url, signed)).toBe(200);
      const { mistakes } = await diagnose({ request: request(signed), secret });
      expect(mistakes.map(({ id }) => id)).toEqual([invites]);
    });
  });

describe("docs/guides/frameworks.md", () => {
  it.each(Object.keys(FRAMEWORKS))("shows the lines of %s", (file) => {
    expect(shownLines(file).length).toBeGreaterThan(40);
    expect(page).toContain(shownLines(file));
  });

  it.each(Object.entries(FRAMEWORKS))("names the mistake of %s", (_, { invites }) => {
    expect(page).toContain(`\`${invites}\``);
  });
});
