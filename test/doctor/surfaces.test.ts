// No surface gives the advice of another: every advice, as each of them shows it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { changes, describeCode, describeStatus, errorCodes, mistakes } from "hookproof/diagnose";
import { probes } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { COMMAND_LINE, EXITS } from "../../cli/src/explain/command-line.js";
import { wordsOf } from "../../service/src/outbox/words.js";

interface Advice {
  readonly of: string;
  readonly text: string;
}

const STATUSES = Array.from({ length: 500 }, (_, index) => index + 100);

function ofCodes(surface: "library" | "command"): Advice[] {
  const codes = errorCodes().map((code) => [code, describeCode(code, surface)] as const);
  const statuses = STATUSES.map((status) => [status, describeStatus(status, surface)] as const);
  return [...codes, ...statuses].flatMap(([of, described]) => {
    if (described === undefined) return [];
    const causes = "cause" in described ? [described.cause] : described.causes;
    return [{ of: String(of), text: [described.message, ...causes, described.fix].join(" ") }];
  });
}

/** What `diagnose` and `runProbes` say, in a program and on the command line alike. */
async function ofRequests(): Promise<Advice[]> {
  const schemes = await Promise.all(
    (["standard-webhooks", "http-signature", "security-event-token"] as const).map((name) => mistakes(name)),
  );
  const found = [...(await mistakes()), ...schemes.flat(), ...changes];
  return [
    ...found.map(({ id, message, fix }) => ({ of: id, text: `${message} ${fix}` })),
    ...probes.map(({ id, means, fix }) => ({ of: id, text: `${means} ${fix}` })),
  ];
}

/** Names in camel case that the library's own sources declare: options, members and functions. */
function ownNames(): Set<string> {
  const folder = join(import.meta.dirname, "../../src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.startsWith("doctor"),
  );
  const names = files.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), "utf8").matchAll(
        /(?:^|\s)(?:readonly |export (?:async )?function )([a-z]+[A-Z]\w*)\??[:(]/g,
      ),
    ].map(([, name = ""]) => name),
  );
  return new Set(names);
}

/** A member of events of AWS Lambda, and a parameter of an old draft. */
const OF_OTHERS = new Set(["isBase64Encoded", "lambdaHandler", "keyId"]);

const FLAG = /(?:^|[\s(])--[a-z]/;
const COMMAND = /\bhookproof [a-z]/;
/** Commands that show or check; a program's author runs them by hand. */
const LOOKING = /\bhookproof (?:doctor|jwks check|keys list|explain)\b/g;

describe("what is read", () => {
  it("in a program names no flag, and no command that acts", async () => {
    const wrong = ofCodes("library").filter(
      ({ text }) => FLAG.test(text) || COMMAND.test(text.replace(LOOKING, "")),
    );
    expect(wrong).toEqual([]);
  });

  it("on the command line names no option or function of the library", async () => {
    const own = ownNames();
    expect(own.size).toBeGreaterThan(100);
    const ofCommands = [...Object.entries(COMMAND_LINE), ...Object.entries(EXITS)].map(([of, words]) => ({
      of,
      text: words.join(" "),
    }));
    const wrong = [...ofCodes("command"), ...ofCommands].flatMap(({ of, text }) => {
      const names = (text.match(/\b[a-z]+[A-Z]\w*/g) ?? []).filter((name) => own.has(name));
      return names.length === 0 ? [] : [`${of}: ${names}`];
    });
    expect(wrong).toEqual([]);
  });

  it("on the page of an outbox names no command, no flag, and no sending by hand", () => {
    const wrong = errorCodes().flatMap((code) => {
      const { cause = "", fix = "" } = wordsOf({ code }) ?? {};
      const text = `${cause} ${fix}`;
      const isOthers = FLAG.test(text) || COMMAND.test(text) || /\b[Ss]end it (?:again|later)/.test(text);
      return isOthers && !BEFORE_THE_OUTBOX.has(code) ? [`${code}: ${text}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  it("of a dead letter promises nothing that happens by itself", () => {
    const wrong = errorCodes().flatMap((code) => {
      const { cause = "", fix = "" } = wordsOf({ code, isDead: true }) ?? {};
      const text = `${cause} ${fix}`;
      const isPromise =
        FLAG.test(text) ||
        COMMAND.test(text) ||
        /\bgoes on\b|\b(?:sends|tries) (?:it|the event) again\b|by themselves|waits?\b.*\bmeanwhile|events wait|every attempt:|again at every attempt/.test(
          text,
        ) ||
        (/\bNothing to do\b/.test(fix) && code !== "EVENT_DUPLICATE");
      // An enqueuing call fails with it, and no attempt.
      const isOther = BEFORE_THE_OUTBOX.has(code) || code === "OUTBOX_UNAVAILABLE";
      return isPromise && !isOther ? [`${code}: ${text}`] : [];
    });
    expect(wrong).toEqual([]);
    expect(wordsOf({ code: "CONNECTION_FAILED", isDead: true })?.fix).toContain("redrive the event");
  });

  it("of a request is code or a whole command for anyone who made it, and no flag or option alone", async () => {
    const own = ownNames();
    const wrong = (await ofRequests()).flatMap(({ of, text }) => {
      const plain = text.replace(/\b(?:hookproof|openssl|curl) [^;]*/g, "");
      // In code stand calls, members of an object, and variables of the reader's own.
      const isCode = /\w\(|\{ |\w\.\w/.test(text);
      const options = (plain.match(/\b[a-z]+[A-Z]\w*/g) ?? []).filter(
        (name) => own.has(name) && !OF_OTHERS.has(name),
      );
      return FLAG.test(plain) || (options.length > 0 && !isCode) ? [`${of}: ${text}`] : [];
    });
    expect(wrong).toEqual([]);
  });
});

/** Codes of calls that fail before an event is in an outbox, or of key stores: no attempt of an outbox has them. */
const BEFORE_THE_OUTBOX: ReadonlySet<string> = new Set(
  errorCodes().filter((code) =>
    /^(?:KEY_STORE|KEY_SET_UPLOAD|KEY_SET_NOT|KEY_SET_URL|BEHAVIOUR|KEY_ID_|KEY_IN_)/.test(code),
  ),
);
