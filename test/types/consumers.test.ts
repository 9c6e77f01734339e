import { readFileSync } from "node:fs";
import { join } from "node:path";
import current from "typescript";
import oldest from "typescript-5-4";
import { beforeAll, describe, expect, it } from "vitest";
import { requirePackage, root } from "../kit/built-package.js";
import { type Compiler, complaints, programOf } from "../kit/compile.js";
import { anyTypes } from "./any-types.js";

beforeAll(requirePackage);

const { ModuleKind, ModuleResolutionKind, ScriptTarget } = current;
const common = {
  strict: true,
  target: ScriptTarget.ES2022,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  skipDefaultLibCheck: true, // TypeScript's own libraries; everybody else's declarations are checked
};
const nodeNext = { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext };
const bundler = { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler };
const dom = { lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [] as string[] };
const node = { lib: ["lib.es2022.d.ts"], types: ["node"] };

// Kept as text, so that only the compilers under test read it, against the built declarations.
const application = readFileSync(join(root, "test/types/application.txt"), "utf8");
const onNode = readFileSync(join(root, "test/types/application-node.txt"), "utf8");

/** The package's entries that do not need Node. */
const EVERYWHERE = ["", "/receiver", "/jwks", "/outbox", "/diagnose", "/probes", "/testing"];

/** What a mistake looks like, each in a module of its own that must not compile. */
const WRONG = {
  "a secret that is no text": 'import { hmacSigner } from "hookproof"; hmacSigner({ secret: 1 });',
  "a secret that may be missing":
    'import { hmacSigner } from "hookproof"; hmacSigner({ secret: process.env.SECRET });',
  "a sender without a signer":
    'import { createSender } from "hookproof"; createSender({ url: "https://a.b" });',
  "an option that does not exist":
    'import { createSender, hmacSigner } from "hookproof"; createSender({ url: "https://a.b", signer: hmacSigner({ secret: "s" }), timeout: 1 });',
  "an unknown algorithm":
    'import { generateKey } from "hookproof/jwks"; await generateKey({ alg: "HS256" });',
  "an error code that does not exist":
    'import type { ErrorCode } from "hookproof"; export const code: ErrorCode = "NOPE";',
  "an event of a refused request":
    'import { createReceiver } from "hookproof/receiver"; declare const r: ReturnType<typeof createReceiver>; const v = await r.verify({ method: "POST", url: "/", headers: [], body: "" }); v.event.id;',
  "a listener with a secret and a key set":
    'import { createReceiver } from "hookproof/receiver"; createReceiver({ listener: { id: "l", baseUrl: "https://a.b", auth: { method: "jwt", secret: "s" } } });',
  "an outbox without a store":
    'import { createOutbox } from "hookproof/outbox"; createOutbox({ listeners: {} });',
  "an event of the outbox without a listener":
    'import type { Outbox } from "hookproof/outbox"; declare const o: Outbox; o.enqueue({ payload: 1 });',
  "a payload that its event's schema refuses":
    'import type { Sender } from "hookproof"; declare const s: Sender<{ "user.offboarded": { userId: string } }>; s.send({ type: "user.offboarded", userId: 1 });',
  "an event that is not in the catalogue":
    'import type { Outbox } from "hookproof/outbox"; declare const o: Outbox<{ "user.offboarded": { userId: string } }>; o.enqueue({ listeners: ["a"], payload: { type: "user.hired", userId: "1" } });',
  "a schema that leaves out the type of its event":
    'import { createSender, type Signer, type StandardSchema } from "hookproof"; declare const signer: Signer; declare const schema: StandardSchema<{ n: number }, { n: number }>; createSender({ url: "https://a.b", signer, events: { a: schema } });',
  "a message for a listener and for several":
    'import type { Outbox } from "hookproof/outbox"; declare const o: Outbox; o.enqueue({ listener: "a", listeners: ["b"], payload: 1 });',
  "a redrive to a place that does not exist":
    'import type { Outbox } from "hookproof/outbox"; declare const o: Outbox; await o.redrive({}, { place: "middle" });',
  "probes without a way to prove":
    'import { runProbes } from "hookproof/probes"; runProbes({ url: "https://a.b" });',
  "a driver that does not exist":
    'import { openSqlite } from "hookproof/node"; openSqlite("a.db", { driver: "sqlite3" });',
  "a clock that is a number":
    'import { memoryReplayStore } from "hookproof/receiver"; memoryReplayStore({ clock: 1 });',
  "a Promise for a payload":
    'import { createEvent } from "hookproof"; createEvent(Promise.resolve({ id: 1 }));',
  "a Promise that is sent":
    'import type { Sender } from "hookproof"; declare const s: Sender; await s.send((async () => ({ id: 1 }))());',
  "a Promise that is tried":
    'import type { Sender } from "hookproof"; declare const s: Sender; await s.trySend({ user: (async () => ({ id: 1 }))() });',
  "a BigInt in a payload":
    'import { createEvent } from "hookproof"; createEvent({ a: { b: [{ id: 1n }] } });',
  "a BigInt that an interface may have":
    'import { createEvent } from "hookproof"; interface Row { id?: bigint } declare const row: Row; createEvent({ row });',
  "a function for a payload": 'import { createEvent } from "hookproof"; createEvent(() => 1);',
  "a symbol in a payload": 'import { createEvent } from "hookproof"; createEvent({ a: Symbol("a") });',
  "a Map in a payload": 'import { createEvent } from "hookproof"; createEvent({ a: new Map([["a", 1]]) });',
  "a Set for a payload": 'import { createEvent } from "hookproof"; createEvent(new Set(["a"]));',
  "a RegExp in a payload": 'import { createEvent } from "hookproof"; createEvent({ a: /x/ });',
  "a Promise in a list that is sent":
    'import type { Sender } from "hookproof"; declare const s: Sender; s.sendMany([1, 2].map(async (id) => ({ id })));',
  "a Map for a listener":
    'import { sendToListeners } from "hookproof"; sendToListeners([{ listener: "a", payload: { m: new Map() } }], { listeners: () => undefined });',
  "a Promise that is prepared":
    'import type { Outbox } from "hookproof/outbox"; declare const o: Outbox; o.prepare({ listeners: ["a"], payload: (async () => 1)() });',
  "a BigInt in a list for the outbox":
    'import type { Outbox } from "hookproof/outbox"; declare const o: Outbox; o.enqueue([{ listener: "a", payload: { id: 1n } }]);',
  "a service on a port that is a text":
    'import { createService } from "hookproof-service"; await createService({ port: "1" });',
};

/** What the messages below have before them. */
const TYPED = `import { createEvent, createSender, hmacSigner, sendToListeners, type Sender } from "hookproof";
import { createOutbox, memoryStore, type Outbox } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
const signer = hmacSigner({ secret: "s" });
type Events = { "user.offboarded": { userId: string }; "user.hired": { userId: string } };
const to = { url: "https://a.b", signer };
const outbox = createOutbox({ store: memoryStore(), listeners: { offboarding: to, hiring: to } });
declare const typed: Outbox<Events, unknown, "offboarding" | "hiring">;
declare const sender: Sender<Events>;
declare const untyped: Sender;
declare const load: () => Promise<{ id: string }>;
`;

/** What is said of a mistake that people make: in two lines at most, with what there is instead. */
const LOST = "JSON would lose this payload, or a value in it: await a Promise";
const SAID: readonly (readonly [mistake: string, said: string])[] = [
  ['outbox.enqueue({ listener: "hiring", payload: load() });', LOST],
  ['outbox.enqueue({ listeners: ["hiring"], payload: { user: load() } });', LOST],
  ['outbox.enqueue([{ listener: "hiring", payload: load() }]);', LOST],
  ['outbox.prepare({ listener: "hiring", payload: load() });', LOST],
  ["untyped.sendMany([{ a: 1 }, load()]);", LOST],
  ["untyped.sendMany([1, 2].map(async (id) => ({ id })));", LOST],
  ['sendToListeners([{ listener: "x", payload: load() }], { listeners: () => to });', LOST],
  ['outbox.enqueue({ listener: "offbording", payload: 1 });', '"offboarding" | "hiring"'],
  ['outbox.enqueue({ listeners: ["offbording"], payload: 1 });', '"offboarding" | "hiring"'],
  ['outbox.enqueue([{ listener: "offbording", payload: 1 }]);', '"offboarding" | "hiring"'],
  ['outbox.prepare({ listener: "offbording", payload: 1 });', '"offboarding" | "hiring"'],
  ['outbox.pause("offbording");', '"offboarding" | "hiring"'],
  ['outbox.enqueue({ listener: "hiring", payload: 1, orderinKey: "a" });', "'orderingKey'?"],
  ['outbox.enqueue({ listeners: ["hiring"], payload: 1, deliverA: 3 });', "'deliverAt'?"],
  ['outbox.enqueue({ listener: "hiring", payload: 1 }, { tz: 1 });', "'{ tx?: never; }'"],
  ['outbox.enqueue({ listener: "hiring" });', "Property 'payload' is missing"],
  ["outbox.enqueue({ payload: 1 });", "Property 'listener' is missing"],
  ['outbox.prepare([{ listener: "hiring", payload: 1 }]);', "listener, payload"],
  ['typed.enqueue({ listener: "hiring", payload: { type: "user.fired", userId: "1" } });', '"user.hired"'],
  ['typed.enqueue({ listener: "hiring", payload: { type: "user.hired", userId: 1 } });', "type 'string'"],
  ['sender.send({ type: "user.fired", userId: "1" });', '"user.offboarded" | "user.hired"'],
  ['sender.send({ type: "user.hired", userId: 1 });', "type 'string'"],
  ['sender.sendMany([{ type: "user.fired", userId: "1" }]);', '"user.offboarded" | "user.hired"'],
  ['sender.createEvent({ type: "user.fired", userId: "1" });', '"user.offboarded" | "user.hired"'],
  ['sender.send({ type: "user.hired", userId: "1" }, { eventID: "a" });', "'eventId'?"],
  ["sender.sendMany([], { concurency: 2 });", "'concurrency'?"],
  ['createEvent({ a: 1 }, { eventID: "x" });', "'eventId'?"],
  ["createSender({ ...to, timeout: 1 });", "SenderOptions"],
  ['createSender({ url: "https://a.b" });', "Property 'signer' is missing"],
  ['sendToListeners([{ listener: "x", payload: 1, evenId: "1" }], { listeners: () => to });', "'eventId'?"],
  [
    "createOutbox({ store: memoryStore(), listeners: { a: { ...to, retris: 1 } } });",
    "OutboxListenerOptions",
  ],
  ["createOutbox({ store: memoryStore(), listeners: { a: to }, pollms: 1 });", "'pollMs'?"],
  [
    'createReceiver({ listener: { id: "l", baseUrl: "https://a.b", auth: { method: "hmac", secrt: "s" } } });',
    "'secret'?",
  ],
  [
    'createReceiver({ listener: { id: "l", baseUrl: "https://a.b", auth: { method: "hmac", secret: "s" } }, replyStore: 1 });',
    "'replayStore'?",
  ],
];

describe.each([
  ["TypeScript 5.4", oldest as unknown as Compiler],
  ["the current TypeScript", current as Compiler],
])("%s", (_, compiler) => {
  const settings = [
    ["nodenext, DOM", { ...nodeNext, ...dom }],
    ["nodenext, only @types/node", { ...nodeNext, ...node }],
    ["bundler, DOM", { ...bundler, ...dom }],
    ["bundler, only @types/node", { ...bundler, ...node }],
  ] as const;

  // The oldest compiler is the question; the current one is tried on two of the settings.
  it.each(compiler === current ? settings.slice(0, 2) : settings)(
    "compiles an application, declarations checked as well: %s",
    (_, settings) => {
      const program = programOf(
        {
          "test/types/application.ts": application,
          ...(settings.types.length > 0 ? { "test/types/application-node.ts": onNode } : {}),
        },
        { ...common, ...settings },
        compiler,
      );
      expect(complaints(program, compiler)).toEqual([]);
    },
  );

  it("needs neither Node's types nor another library for the entries that run everywhere", () => {
    const text = `${EVERYWHERE.map((entry, index) => `export * as entry${index} from "hookproof${entry}";`).join("\n")}
      import type { Outbox } from "hookproof/outbox";
      export const stop = (outbox: Outbox): Promise<void> => outbox[Symbol.asyncDispose]();`;
    const program = programOf(
      { "test/types/everywhere.ts": text },
      { ...common, ...nodeNext, ...dom },
      compiler,
    );
    expect(complaints(program, compiler)).toEqual([]);
  });

  it("does not compile what must not be", () => {
    const wrong = Object.entries(WRONG).map(([name, text], index) => [
      `test/types/wrong-${index}.ts`,
      `// ${name}\n${text}\nexport {};\n`,
    ]);
    const program = programOf(Object.fromEntries(wrong), { ...common, ...nodeNext, ...node }, compiler);
    const seen = new Set(complaints(program, compiler).map((line) => line.replace(/:.*/, "")));
    const unseen = wrong.filter(([file = ""]) => !seen.has(file)).map(([, text]) => text);
    expect(unseen).toEqual([]);
  });

  it("says of a mistake in two lines at most what there is instead", () => {
    const modules = SAID.map(([mistake], index) => [`test/types/said-${index}.ts`, `${TYPED}${mistake}\n`]);
    const program = programOf(Object.fromEntries(modules), { ...common, ...nodeNext, ...node }, compiler);
    const said = SAID.map((_, index) => {
      const file = program.getSourceFile(join(root, `test/types/said-${index}.ts`));
      return compiler
        .getPreEmitDiagnostics(program, file)
        .filter((one) => one.file === file)
        .map(({ messageText }) => compiler.flattenDiagnosticMessageText(messageText, "\n"));
    });
    expect(said).toEqual(SAID.map(([, words]) => [expect.stringContaining(words)]));
    expect(said.flat().filter((text) => text.split("\n").length > 2)).toEqual([]);
  });

  it("sees no public type as any", () => {
    const settings = { ...common, ...nodeNext, ...node };
    const entries = [...EVERYWHERE, "/node"].map((entry) => `hookproof${entry}`);
    const text = entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n");
    const program = programOf({ "test/types/surface.ts": text }, settings, compiler);
    expect(anyTypes(program, join(root, "test/types/surface.ts"))).toEqual([]);
  });
});
