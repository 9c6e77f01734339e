// Every door by which a stranger's bytes come in: its bounds, the most work that one of them causes, what measures it.

/** A way in for bytes of somebody else's. */
export interface Door {
  readonly door: string;
  /** What comes in by it. */
  readonly takes: string;
  /** What ends before it is done. */
  readonly bounds: string;
  /** The most that one request, line, answer or file causes. */
  readonly most: string;
  /** The tests that measure it: file, and a part of the test's name. */
  readonly measured: readonly (readonly [file: string, name: string])[];
}

const WORK = "test/doors/work.test.ts";
const GROWTH = "test/growth.test.ts";

export const DOORS: readonly Door[] = [
  {
    door: "receiver, default scheme",
    takes: "a request",
    bounds: "16 KiB of headers, a body of 64 KiB, counted while it arrives; at most 10 secrets",
    most: "an HMAC for each secret and one for the log, or one hash and one check of a signature; one reading of the body",
    measured: [
      [WORK, "access-governance"],
      [GROWTH, "every reader of a stranger's text"],
      ["test/receiver/hostile-bodies.test.ts", "65,537 bytes are 413"],
    ],
  },
  {
    door: "receiver, Standard Webhooks",
    takes: "a request",
    bounds: "16 signatures, 10 secrets or keys, a body of 64 KiB",
    most: "10 HMACs, or 160 checks of Ed25519 (16 signatures by 10 keys)",
    measured: [[WORK, "standard-webhooks"]],
  },
  {
    door: "receiver, HTTP message signatures",
    takes: "a request",
    bounds: "8 signatures, 64 components of each, 8 KiB of each header",
    most: "8 checks of a signature, and one hash of the body",
    measured: [[WORK, "http-signature"]],
  },
  {
    door: "receiver, security event tokens",
    takes: "a request",
    bounds: "a token of 64 KiB, 16 events",
    most: "one check of a signature",
    measured: [[WORK, "security-event-token"]],
  },
  {
    door: "receiver behind node:http, a web framework, Lambda",
    takes: "a connection, or the event of a platform",
    bounds: "10 s for the headers, 15 s for the request; base64 is decoded up to the largest body",
    most: "64 KiB kept and one verdict",
    measured: [
      ["test/receiver/hostile-sockets.test.ts", "1,000 idle connections"],
      [WORK, "an event of Lambda"],
    ],
  },
  {
    door: "receiver's memory",
    takes: "event ids",
    bounds: "only a request that was proved reserves one; they are kept for 7 days",
    most: "nothing for a stranger's",
    measured: [["test/receiver/hostile-signatures.test.ts", "is 401 and not 409"]],
  },
  {
    door: "`diagnose`, `hookproof verify`",
    takes: "a request, and up to 8 secrets or 50 keys of the caller's",
    bounds:
      "a budget of work for all secrets together, which JSON's tokens are paid from; 12 keys tried, 2 searched; 16 signatures read, 1 MiB decompressed",
    most: "100 ms of a processor at 64 KiB, 20 ms at 1 KiB, whatever the number of secrets",
    measured: [
      [WORK, "a diagnosis"],
      ["test/doctor/diagnose/search.test.ts", "ends it, however many combinations are left"],
    ],
  },
  {
    door: "`hookproof listen` and the inspector",
    takes: "requests, one after another",
    bounds:
      "10,000 requests and 100 MB kept; one diagnosis at a time, with ten times its duration of rest, 50 waiting (100 with something hidden)",
    most: "one verdict, one row; of a burst the first 50 refusals are explained",
    measured: [
      ["test/inspector/history.test.ts", "are requests and bytes"],
      ["test/inspector/feed.test.ts", "of 5,000 requests is recorded"],
      [WORK, "a burst of refusals"],
    ],
  },
  {
    door: "the inspector's and the outbox's page",
    takes: "calls with the token that was printed; without it 403",
    bounds:
      "orders of 16 KiB, imports of 256 KiB an entry, 8 replays at a time; the outbox is read once a second",
    most: "one reading of the outbox a second, however many ask",
    measured: [
      ["test/outbox-page/outbox-page.test.ts", "the outbox is read once a second"],
      ["test/inspector/replay.test.ts", "are eight at the most"],
      ["test/inspector/files.test.ts", "has its bounds"],
    ],
  },
  {
    door: "key-set resolver",
    takes: "the answers of a key host, and key ids in tokens",
    bounds:
      "64 KiB, 50 keys, 5 s, no redirects; one fetch for all tokens at once, in 30 s for unknown ids, in 10 s after a failure",
    most: "one fetch in 30 s, whatever tokens name; 50 keys read of one answer",
    measured: [
      ["test/jwks/resolver-hostile.test.ts", "10,000 of them cost one more fetch in 30 s"],
      ["test/jwks/resolver-hostile.test.ts", "65,536 bytes and 50 keys are allowed"],
      ["test/jwks/hostile-key-hosts.test.ts", "64 MiB are cut off after 64 KiB"],
      [GROWTH, "key set: body"],
    ],
  },
  {
    door: "sender and outbox worker",
    takes: "a listener's answers",
    bounds:
      "16 KiB of the body, 20 informational answers with 16 KiB, 10 s an attempt; waits within the window of retries",
    most: "16 KiB read and 200 characters kept",
    measured: [
      ["test/sender/hostile-receiver.test.ts", "16 KiB of it are read"],
      ["test/http/informational.test.ts", "may be 20 ahead of an answer, and not 21"],
      [GROWTH, "sender: body of the answer"],
    ],
  },
  {
    door: "key-set host (`jwks serve`, `jwksHandler`)",
    takes: "requests",
    bounds: "GET and HEAD, no body; the answer is made once for a set",
    most: "one comparison of `If-None-Match`",
    measured: [[GROWTH, "key set host: If-None-Match"]],
  },
  {
    door: "local service, token endpoint",
    takes: "forms with client ids and secrets",
    bounds:
      "one hash at a time for all made-up ids, of which 8 wait, and one lane for each client; 10 failures a minute, counted for 10,000 clients",
    most: "one scrypt, or 429",
    measured: [
      ["test/service/token-attempts.test.ts", "a lane runs one at a time"],
      ["test/service/token-memory.test.ts", "cost the same memory"],
    ],
  },
  {
    door: "local service, every other operation",
    takes: "JSON with a token; without one 401",
    bounds: "1 MiB, 500 levels, pages of 100; files are streamed, 24 MiB held",
    most: "750 ms of a processor for 1 MiB that is made of nothing but numbers, and one change",
    measured: [
      ["test/service/hostile-requests.test.ts", "costs no more than its length"],
      ["test/service/hostile-requests.test.ts", "JSON as deep as it is long"],
      ["test/service/upload-memory.test.ts", "passes through the service"],
      ["test/http/slow-reader.test.ts", "lets the connection wait"],
      ["test/service/wrong-types.test.ts", "a body of 1 MiB"],
    ],
  },
  {
    door: "local service, automations and their expressions",
    takes: "CEL of who has a token; bodies of who is proved",
    bounds:
      "200 expressions of 2,000 characters; a process of its own, 5 s and 320 MB; lanes by how long an automation took",
    most: "5 s of a process at the lowest priority, which holds up no other automation",
    measured: [
      ["test/service/expressions.test.ts", "an expression without an end"],
      ["test/service/expression-lanes.test.ts", "five automations that hang hold up none"],
      [GROWTH, "service: template"],
    ],
  },
  {
    door: "`hookproof mcp`",
    takes: "lines of JSON",
    bounds: "4 MiB a line, 500 levels, results cut; 5 listeners",
    most: "one command, as typed",
    measured: [
      ["cli/test/mcp-lines.test.ts", "a line without an end"],
      ["cli/test/mcp-lines.test.ts", "a sixth listener"],
    ],
  },
  {
    door: "captures, exported events, fixtures, behaviour profiles, imports",
    takes: "a file that somebody has sent",
    bounds: "read once; linear in its length; deeper JSON than 500 levels is refused or compared as bytes",
    most: "25 ms of a processor for 64 KiB",
    measured: [
      [GROWTH, "command line: captured JSON"],
      [GROWTH, "inspector: imported file"],
      ["cli/test/odd-files.test.ts", "compared as bytes"],
    ],
  },
  {
    door: "SQLite file of somebody else's",
    takes: "a file as an outbox, a history, a service's database",
    bounds: "its tables must be those that the program makes: no views, triggers, virtual tables",
    most: "a look at its schema",
    measured: [["test/outbox/sqlite/hostile-file.test.ts", "is refused before anything reads it"]],
  },
  {
    door: "`hookproof explain`, `inspect`",
    takes: "a text that somebody has sent",
    bounds: "names are compared by one difference; a token has 8 KiB, a security event token 64 KiB",
    most: "25 ms of a processor for 64 KiB",
    measured: [[WORK, "a text to explain"]],
  },
  {
    door: "PostgreSQL, of a role that only enqueues or may create in a schema",
    takes: "rows; functions and operators",
    bounds: "CHECKs and rights by column; a `search_path` of PostgreSQL's own",
    most: "its own rows fail or wait, and nobody else's",
    measured: [
      ["test/outbox/postgres/hostile-rows.test.ts", "stops no statement of the engine"],
      ["test/outbox/postgres/hostile-path.test.ts", "an outbox calls none of them"],
    ],
  },
];
