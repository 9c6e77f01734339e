// Stories of codes: a line that makes the mistake, what the fix says as it is printed, and lines that succeed then.

export interface Story {
  readonly codes: readonly string[];
  /** Parts of the fix, letter by letter; each stands in a line of `fix`. */
  readonly printed: readonly string[];
  readonly before?: readonly string[];
  /** Its output has the code. */
  readonly mistake: string;
  /** What its output shows besides. */
  readonly shows?: RegExp;
  /** Lines that do what the fix says, and show that it helps; each ends with success. A line ending in ` &` serves. */
  readonly fix: readonly string[];
}

const URL_OF_LISTENER = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const PRIVATE = "umask 077";
const MADE = `${PRIVATE}; head -c 32 /dev/urandom | base64 -w0 > s.txt`;
const SIGN = `hookproof sign ${URL_OF_LISTENER} --data '{}'`;
const mcp = (tool: string, input: object) =>
  [
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: tool, arguments: input } },
  ]
    .map((line) => `'${JSON.stringify(line)}'`)
    .join(" ");
const asked = (tool: string, input: object, command = "hookproof mcp") =>
  `printf '%s\\n' ${mcp(tool, input)} | ${command}`;

export const STORIES: readonly Story[] = [
  {
    codes: ["SECRET_MISSING"],
    printed: ["hookproof secret set", "--secret-file", "HOOKPROOF_SECRET"],
    before: [MADE, `hookproof profile add offboarding --target ${URL_OF_LISTENER}`],
    mistake: SIGN,
    fix: [
      `${SIGN} --secret-file s.txt`,
      `HOOKPROOF_SECRET="$(cat s.txt)" ${SIGN}`,
      "hookproof secret set --profile offboarding --secret-file s.txt",
      "hookproof sign --profile offboarding --data '{}'",
    ],
  },
  {
    codes: ["SECRET_INVALID"],
    printed: ["hookproof secret set"],
    before: [MADE, `hookproof profile add offboarding --target ${URL_OF_LISTENER}`],
    mistake: `${PRIVATE}; : > empty.txt; ${SIGN} --secret-file empty.txt`,
    fix: [
      "hookproof secret set --profile offboarding --secret-file s.txt",
      "hookproof sign --profile offboarding --data '{}'",
    ],
  },
  {
    codes: ["SECRET_STORE_INVALID"],
    printed: ["hookproof secret set"],
    before: [
      MADE,
      `hookproof profile add offboarding --target ${URL_OF_LISTENER}`,
      "hookproof secret set --profile offboarding --secret-file s.txt",
      `printf junk > "$HOOKPROOF_HOME/secrets/offboarding.json"`,
    ],
    mistake: "hookproof sign --profile offboarding --data '{}'",
    fix: [
      "hookproof secret set --profile offboarding --secret-file s.txt",
      "hookproof sign --profile offboarding --data '{}'",
    ],
  },
  {
    codes: ["SESSION_MISSING"],
    printed: ["hookproof listen --port <n>"],
    mistake: "hookproof send :4400 --data '{}'",
    fix: ["hookproof listen --port 4400 &", "hookproof send :4400 --data '{}'"],
  },
  {
    codes: ["INSPECTOR_MISSING"],
    printed: ["hookproof listen --port <n>"],
    before: ["hookproof listen --port 4400 --no-ui &"],
    mistake: asked("list_requests", { port: 4400 }),
    fix: [
      "hookproof listen --port 4401 &",
      "hookproof send :4401 --data '{}'",
      `${asked("list_requests", { port: 4401 })} | grep -v '"isError":true'`,
    ],
  },
  {
    codes: ["TARGET_NOT_ALLOWED"],
    printed: ["hookproof mcp --allow send --to <profile>"],
    before: [`hookproof profile add elsewhere --target ${URL_OF_LISTENER}`],
    mistake: asked("send_event", { target: "elsewhere", body: {} }, "hookproof mcp --allow send"),
    // Nothing is at the target: that it is asked at all is what was refused before.
    fix: [
      `${asked("send_event", { target: "elsewhere", body: {} }, "hookproof mcp --allow send --to elsewhere")} | grep -v TARGET_NOT_ALLOWED`,
    ],
  },
  {
    codes: ["CONFIG_EXISTS"],
    printed: ["hookproof profile add", "--force"],
    before: ["hookproof init --yes"],
    mistake: "hookproof init --yes",
    fix: [`hookproof profile add offboarding --target ${URL_OF_LISTENER}`, "hookproof init --yes --force"],
  },
  {
    codes: ["KEY_SET_URL_REFUSED"],
    printed: ["hookproof listen --jwks <url> --allow-insecure-jwks"],
    mistake: "hookproof listen --port 4400 --jwks https://10.0.0.1/jwks.json",
    fix: ["hookproof listen --jwks https://10.0.0.1/jwks.json --allow-insecure-jwks &"],
  },
  {
    codes: ["KEY_STORE_UNREADABLE"],
    printed: ["hookproof doctor"],
    before: [`${PRIVATE}; mkdir -p "$HOOKPROOF_HOME/keys/keys.json"`],
    mistake: "hookproof keys list",
    fix: ["hookproof doctor", `rmdir "$HOOKPROOF_HOME/keys/keys.json"`, "hookproof keys list"],
  },
  {
    codes: ["DATABASE_MISSING"],
    printed: ["hookproof service start", "--db"],
    mistake: "hookproof service export --db x.db",
    fix: ["hookproof service start --port 4420 --db x.db &", "hookproof service export --db x.db"],
  },
  {
    codes: ["DATABASE_NOT_EMPTY"],
    printed: ["--replace", "hookproof service reset --yes"],
    before: ["hookproof service seed --db x.db --users 2"],
    mistake: "hookproof service seed --db x.db --users 3",
    fix: ["hookproof service seed --db x.db --users 3 --replace", "hookproof service reset --yes --db x.db"],
  },
  {
    codes: ["JOURNAL_DIFFERS"],
    printed: ["hookproof service journal"],
    before: ["hookproof service start --port 4420 --db x.db &"],
    mistake: "hookproof service journal --expect 7 --db x.db --base-url http://127.0.0.1:4420",
    fix: ["hookproof service journal --db x.db --base-url http://127.0.0.1:4420"],
  },
  {
    codes: ["CAPTURE_INCOMPLETE"],
    printed: ["curl --trace", "--body @file"],
    before: [
      MADE,
      "hookproof listen --port 4400 --secret-file s.txt --no-ui &",
      "printf '{\"a\":1}' > file",
      "sh -c \"$(hookproof sign :4400 --data @file --curl | sed '1s/curl/curl -sv/') > answer 2> seen.txt\"",
    ],
    mistake: "hookproof verify seen.txt --secret-file s.txt",
    fix: [
      "hookproof verify seen.txt --body @file --secret-file s.txt",
      "sh -c \"$(hookproof sign :4400 --data @file --curl | sed '1s/curl/curl --trace trace.txt -s/')\"",
      "hookproof verify trace.txt --secret-file s.txt",
    ],
  },
  {
    codes: ["KEY_STORE_PUBLISHED"],
    printed: ["hookproof jwks publish --release"],
    before: ["hookproof keys generate", "hookproof jwks publish --url {host}/a.json --folder ."],
    mistake: "hookproof jwks publish --url {host}/b.json --folder .",
    fix: ["hookproof jwks publish --release", "hookproof jwks publish --url {host}/b.json --folder ."],
  },
  {
    codes: ["KEY_SET_UPLOAD_FAILED"],
    printed: ["hookproof jwks publish"],
    before: ["hookproof keys generate"],
    mistake: "hookproof jwks publish --url {host}/a.json --command false",
    fix: ["hookproof jwks publish --url {host}/a.json --folder ."],
  },
  {
    codes: ["KEY_SET_NOT_PUBLISHED"],
    printed: ["hookproof jwks publish"],
    before: [
      "hookproof keys generate",
      "hookproof jwks publish --url {host}/a.json --folder .",
      "cp a.json a.json.cached",
      "hookproof keys generate",
    ],
    mistake: "hookproof jwks publish --url {host}/a.json --folder . --settle 100ms",
    fix: ["rm a.json.cached", "hookproof jwks publish --url {host}/a.json --folder ."],
  },
  {
    codes: ["EVENT_IN_FLIGHT"],
    printed: ["hookproof send"],
    before: [MADE],
    mistake: `hookproof send {host}/api/v1/webhooks/incoming/lst_busy --data '{}' --secret-file s.txt --retries 0`,
    shows: /503/,
    fix: [`hookproof send {host}/api/v1/webhooks/incoming/lst_busy --data '{}' --secret-file s.txt`],
  },
  {
    codes: ["EVENT_NOT_IN_OUTBOX"],
    printed: ["hookproof outbox status"],
    before: ["hookproof outbox create --outbox x.db"],
    mistake: "hookproof outbox attempts 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --outbox x.db",
    fix: ["hookproof outbox status --outbox x.db"],
  },
  {
    codes: ["OUTBOX_BODY_UNREADABLE"],
    printed: ["hookproof outbox redrive <event id>"],
    before: [MADE, "curl -sf {host}/program/enqueue", "curl -sf {host}/program/deliver-with-wrong-key"],
    mistake: "hookproof outbox dead --outbox sealed.db",
    fix: [
      'hookproof outbox redrive "$(cat id.txt)" --outbox sealed.db --yes',
      "curl -sf {host}/program/deliver-with-right-key",
      'hookproof outbox attempts "$(cat id.txt)" --outbox sealed.db | grep delivered',
    ],
  },
  ...["SUB", "AUD", "HTM"].map((claim) => ({
    codes: [`CLAIM_${claim}_INVALID`],
    printed: ["hookproof verify <capture> --jwks <url> --url <listener url>"],
    mistake: `hookproof verify wrong-${claim}.http --jwks keys.json --url ${URL_OF_LISTENER}`,
    shows: /received .*expected /,
    fix: [`hookproof verify right.http --jwks keys.json --url ${URL_OF_LISTENER}`],
  })),
];

/** The story of an advice, where all that it runs stands in the fix as it is printed. */
export function storyOf(id: string, fix: string): Story | undefined {
  return STORIES.find(
    ({ codes, printed }) => codes.includes(id) && printed.every((part) => fix.includes(part)),
  );
}
