import type { Command } from "./command.js";

/** A command's place in the tree: what the overview says of it, and where it is loaded from when it is called. */
export interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Every command; only the one that is called is loaded. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  demo: {
    summary: "everything in one process, offline: 200, 409, 401, and why the 401",
    load: async () => (await import("./commands/demo.js")).demo,
  },
  init: {
    summary: "write hookproof.config.json and a secret or key reference",
    load: async () => (await import("./commands/init.js")).init,
  },
  send: {
    summary: "sign and send one event, or a batch",
    load: async () => (await import("./commands/send.js")).send,
  },
  replay: {
    summary: "send a recorded event again; expects 409",
    load: async () => (await import("./commands/replay.js")).replay,
  },
  test: {
    summary: "the battery of probes against a listener; --list shows them",
    load: async () => (await import("./commands/test.js")).test,
  },
  listen: {
    summary: "local verifying listener",
    load: async () => (await import("./commands/listen.js")).listen,
  },
  sign: {
    summary: "print the headers (or curl) for a body; sends nothing",
    load: async () => (await import("./commands/sign.js")).sign,
  },
  verify: {
    summary: "check a captured request and explain the failure",
    load: async () => (await import("./commands/verify.js")).verify,
  },
  "keys list": {
    summary: "the keys, their state and what happens next",
    load: async () => (await import("./commands/keys-list.js")).keysList,
  },
  "keys generate": {
    summary: "generate a key for signing tokens",
    load: async () => (await import("./commands/keys-generate.js")).keysGenerate,
  },
  "keys import": {
    summary: "store a key that was made elsewhere",
    load: async () => (await import("./commands/keys-import.js")).keysImport,
  },
  "keys show": {
    summary: "one key: state, times, public half",
    load: async () => (await import("./commands/keys-show.js")).keysShow,
  },
  "keys export": {
    summary: "a key as JWK or PEM",
    load: async () => (await import("./commands/keys-export.js")).keysExport,
  },
  "keys rotate": {
    summary: "publish, wait, sign, retire: without one refused webhook",
    load: async () => (await import("./commands/keys-rotate.js")).keysRotate,
  },
  "keys retire": {
    summary: "sign with a key no more",
    load: async () => (await import("./commands/keys-retire.js")).keysRetire,
  },
  "keys remove": {
    summary: "take a key out of the set and erase it",
    load: async () => (await import("./commands/keys-remove.js")).keysRemove,
  },
  "jwks export": {
    summary: "the key set as a file for a static host",
    load: async () => (await import("./commands/jwks-export.js")).jwksExport,
  },
  "jwks check": {
    summary: "check a key set from outside, rule by rule",
    load: async () => (await import("./commands/jwks-check.js")).jwksCheck,
  },
  "jwt inspect": {
    summary: "decode a token; verifies nothing",
    load: async () => (await import("./commands/jwt-inspect.js")).jwtInspect,
  },
  "secret set": {
    summary: "store the signing secret of a profile",
    load: async () => (await import("./commands/secret-set.js")).secretSet,
  },
  "secret generate": {
    summary: "generate and store a signing secret",
    load: async () => (await import("./commands/secret-generate.js")).secretGenerate,
  },
  "secret show": {
    summary: "show the fingerprint of a stored secret",
    load: async () => (await import("./commands/secret-show.js")).secretShow,
  },
  "secret env": {
    summary: "set HOOKPROOF_SECRET in a shell",
    load: async () => (await import("./commands/secret-env.js")).secretEnv,
  },
  "secret remove": {
    summary: "forget a stored secret",
    load: async () => (await import("./commands/secret-remove.js")).secretRemove,
  },
  "jwks serve": {
    summary: "host the key set over HTTP",
    load: async () => (await import("./commands/jwks-serve.js")).jwksServe,
  },
  "outbox status": {
    summary: "what an outbox holds for each listener; --watch",
    load: async () => (await import("./commands/outbox-status.js")).outboxStatus,
  },
  "outbox work": {
    summary: "deliver what an outbox holds, as a worker",
    load: async () => (await import("./commands/outbox-work.js")).outboxWork,
  },
  "outbox dead": {
    summary: "events that could not be delivered, and why",
    load: async () => (await import("./commands/outbox-dead.js")).outboxDead,
  },
  "outbox redrive": {
    summary: "bring dead letters back; counts and asks first",
    load: async () => (await import("./commands/outbox-redrive.js")).outboxRedrive,
  },
  "outbox attempts": {
    summary: "where an event stands, with every attempt",
    load: async () => (await import("./commands/outbox-attempts.js")).outboxAttempts,
  },
  "service start": {
    summary: "the whole Access Governance Service, on this machine",
    load: async () => (await import("./commands/service-start.js")).serviceStart,
  },
  "service seed": {
    summary: "fill its database: users, secrets, apps, as many as you like",
    load: async () => (await import("./commands/service-seed.js")).serviceSeed,
  },
  "service reset": {
    summary: "back to what its database was filled with",
    load: async () => (await import("./commands/service-reset.js")).serviceReset,
  },
  "service routes": {
    summary: "every operation with ids that are there, ready to be called",
    load: async () => (await import("./commands/service-routes.js")).serviceRoutes,
  },
  "service token": {
    summary: "an access token of the running service",
    load: async () => (await import("./commands/service-token.js")).serviceToken,
  },
  "events list": {
    summary: "search the events of the last 7 days",
    load: async () => (await import("./commands/events-list.js")).eventsList,
  },
  "events show": {
    summary: "one event with its headers and body",
    load: async () => (await import("./commands/events-show.js")).eventsShow,
  },
  "events export": {
    summary: "write an event for replay or verify",
    load: async () => (await import("./commands/events-export.js")).eventsExport,
  },
  "events diff": {
    summary: "what differs between two events",
    load: async () => (await import("./commands/events-diff.js")).eventsDiff,
  },
  "events clear": {
    summary: "forget recorded events",
    load: async () => (await import("./commands/events-clear.js")).eventsClear,
  },
  "profile list": {
    summary: "the profiles of all configuration files",
    load: async () => (await import("./commands/profile-list.js")).profileList,
  },
  "profile show": {
    summary: "what a profile comes to",
    load: async () => (await import("./commands/profile-show.js")).profileShow,
  },
  "profile add": {
    summary: "add or change a profile",
    load: async () => (await import("./commands/profile-add.js")).profileAdd,
  },
  "profile use": {
    summary: "choose the profile that is used by default",
    load: async () => (await import("./commands/profile-use.js")).profileUse,
  },
  "profile remove": {
    summary: "take a profile out of its file",
    load: async () => (await import("./commands/profile-remove.js")).profileRemove,
  },
  "config path": {
    summary: "the configuration files that are read",
    load: async () => (await import("./commands/config-path.js")).configPath,
  },
  "config list": {
    summary: "every setting that has a value",
    load: async () => (await import("./commands/config-list.js")).configList,
  },
  "config explain": {
    summary: "where each value comes from",
    load: async () => (await import("./commands/config-explain.js")).configExplain,
  },
  doctor: {
    summary: "clock, Node version, file modes, ports, proxy, CA, TLS",
    load: async () => (await import("./commands/doctor.js")).doctor,
  },
  explain: {
    summary: "what a code, a cause or an exit code means, offline",
    load: async () => (await import("./commands/explain.js")).explain,
  },
  completion: {
    summary: "a completion script for bash, zsh, fish or pwsh",
    load: async () => (await import("./commands/completion.js")).completion,
  },
};
