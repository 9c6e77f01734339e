// Every command, its group and its place in the overview.
import type { Command } from "../command.js";

/**
 * A command's place in the tree. The summary is the one place that says what the command does: the overview and the
 * command's own help show it. It begins with a verb, has no full stop, and fits on a line.
 */
interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** The groups of commands, with what they are about. */
export const GROUPS: Readonly<Record<string, string>> = {
  keys: "make, rotate and export the keys that sign tokens",
  jwks: "host, publish, export and check a key set",
  secret: "store and generate signing secrets",
  outbox: "look into an outbox, deliver it, and redrive what failed",
  service: "run the whole Access Governance Service on this machine",
  events: "search and export what was sent",
  profile: "name targets with their settings; show where values come from",
};

/** The overview: commands and groups under their headings. */
export const SECTIONS: readonly (readonly [heading: string, words: readonly string[]])[] = [
  ["Start here", ["demo", "listen", "send", "replay"]],
  ["Find a mistake", ["test", "verify", "explain", "inspect", "doctor"]],
  ["Sign", ["sign", "secret", "keys", "jwks", "snippet"]],
  ["Run", ["outbox", "service"]],
  ["Set up", ["init", "profile", "events", "completion", "mcp"]],
];

/** Every command in the order of the overview. Only the one that is called is loaded, with the file it is in. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  demo: {
    summary: "show everything in one process, offline: 200, 409, 401, and why the 401",
    load: async () => (await import("../commands/demo.js")).demo,
  },
  init: {
    summary: "write hookproof.config.json with a profile and its secret or key",
    load: async () => (await import("../commands/init.js")).init,
  },
  send: {
    summary: "sign one event, or a batch, and send it",
    load: async () => (await import("../commands/send.js")).send,
  },
  replay: {
    summary: "send a recorded event again; 409 is the success here",
    load: async () => (await import("../commands/replay.js")).replay,
  },
  test: {
    summary: "send the test suite to a listener; --list shows its probes",
    load: async () => (await import("../commands/test.js")).test,
  },
  listen: {
    summary: "run a local listener that checks requests as the service does",
    load: async () => (await import("../commands/listen.js")).listen,
  },
  sign: {
    summary: "print the headers, or a curl command, for a body; sends nothing",
    load: async () => (await import("../commands/sign.js")).sign,
  },
  snippet: {
    summary: "print a program that signs, sends or verifies, in another language",
    load: async () => (await import("../commands/snippet.js")).snippet,
  },
  verify: {
    summary: "check a captured request and explain why it fails",
    load: async () => (await import("../commands/verify.js")).verify,
  },
  "keys list": {
    summary: "list the keys, their states and what happens next",
    load: async () => (await import("../commands/keys.js")).keysList,
  },
  "keys generate": {
    summary: "generate a key for signing tokens",
    load: async () => (await import("../commands/keys.js")).keysGenerate,
  },
  "keys import": {
    summary: "store a private key that was made elsewhere",
    load: async () => (await import("../commands/keys.js")).keysImport,
  },
  "keys show": {
    summary: "show one key: state, times, public half",
    load: async () => (await import("../commands/keys.js")).keysShow,
  },
  "keys export": {
    summary: "print a key as JWK or PEM",
    load: async () => (await import("../commands/keys.js")).keysExport,
  },
  "keys rotate": {
    summary: "replace the signing key, without a refused webhook",
    load: async () => (await import("../commands/keys-rotate.js")).keysRotate,
  },
  "keys retire": {
    summary: "stop signing with a key",
    load: async () => (await import("../commands/keys-rotate.js")).keysRetire,
  },
  "keys remove": {
    summary: "remove a key from the key set and erase it",
    load: async () => (await import("../commands/keys-rotate.js")).keysRemove,
  },
  "jwks serve": {
    summary: "host the key set over HTTP or HTTPS",
    load: async () => (await import("../commands/jwks-serve.js")).jwksServe,
  },
  "jwks publish": {
    summary: "bring the key set to a static host, and rotate once it is seen there",
    load: async () => (await import("../commands/jwks-publish.js")).jwksPublish,
  },
  "jwks export": {
    summary: "write the key set as a file for a static host",
    load: async () => (await import("../commands/jwks.js")).jwksExport,
  },
  "jwks check": {
    summary: "check a key set from outside, rule by rule",
    load: async () => (await import("../commands/jwks.js")).jwksCheck,
  },
  inspect: {
    summary: "decode any token, name its kind and say what is wrong with it",
    load: async () => (await import("../commands/inspect.js")).inspect,
  },
  "secret set": {
    summary: "store the signing secret of a profile",
    load: async () => (await import("../commands/secret.js")).secretSet,
  },
  "secret generate": {
    summary: "generate and store a signing secret",
    load: async () => (await import("../commands/secret.js")).secretGenerate,
  },
  "secret show": {
    summary: "show the fingerprint of a stored secret",
    load: async () => (await import("../commands/secret.js")).secretShow,
  },
  "secret env": {
    summary: "print shell lines that set HOOKPROOF_SECRET",
    load: async () => (await import("../commands/secret.js")).secretEnv,
  },
  "secret remove": {
    summary: "remove a stored secret",
    load: async () => (await import("../commands/secret.js")).secretRemove,
  },
  "outbox status": {
    summary: "show what an outbox holds for each listener; --watch repeats it",
    load: async () => (await import("../commands/outbox-status.js")).outboxStatus,
  },
  "outbox ui": {
    summary: "show an outbox in the browser: listeners, failures, dead letters, events",
    load: async () => (await import("../commands/outbox-ui.js")).outboxUi,
  },
  "outbox work": {
    summary: "deliver what an outbox holds, as a worker",
    load: async () => (await import("../commands/outbox-work.js")).outboxWork,
  },
  "outbox create": {
    summary: "make the tables of an outbox, or bring them up to date",
    load: async () => (await import("../commands/outbox-create.js")).outboxCreate,
  },
  "outbox list": {
    summary: "list the events that wait: when they are due, and the last answer",
    load: async () => (await import("../commands/outbox-control.js")).outboxList,
  },
  "outbox pause": {
    summary: "stop the deliveries to a listener, by every worker",
    load: async () => (await import("../commands/outbox-control.js")).outboxPause,
  },
  "outbox resume": {
    summary: "end a listener's pause",
    load: async () => (await import("../commands/outbox-control.js")).outboxResume,
  },
  "outbox cancel": {
    summary: "cancel events that wait, so that they are never sent",
    load: async () => (await import("../commands/outbox-control.js")).outboxCancel,
  },
  "outbox dead": {
    summary: "list the dead letters: events that could not be delivered, and why",
    load: async () => (await import("../commands/outbox-dead.js")).outboxDead,
  },
  "outbox redrive": {
    summary: "return dead letters to the outbox, to be delivered again",
    load: async () => (await import("../commands/outbox-dead.js")).outboxRedrive,
  },
  "outbox drop": {
    summary: "remove dead letters permanently",
    load: async () => (await import("../commands/outbox-drop.js")).outboxDrop,
  },
  "outbox attempts": {
    summary: "show an event's state at each listener, with every attempt",
    load: async () => (await import("../commands/outbox-status.js")).outboxAttempts,
  },
  "service start": {
    summary: "run the whole Access Governance Service on this machine",
    load: async () => (await import("../commands/service-start.js")).serviceStart,
  },
  "service seed": {
    summary: "fill the service's database with users, secrets and apps",
    load: async () => (await import("../commands/service.js")).serviceSeed,
  },
  "service reset": {
    summary: "return the service's database to its seed or fixture",
    load: async () => (await import("../commands/service.js")).serviceReset,
  },
  "service routes": {
    summary: "list every operation as a URL that can be called",
    load: async () => (await import("../commands/service.js")).serviceRoutes,
  },
  "service export": {
    summary: "write the service's state as a fixture, for git and for service start",
    load: async () => (await import("../commands/service-state.js")).serviceExport,
  },
  "service diff": {
    summary: "name what differs between two states of the service",
    load: async () => (await import("../commands/service-state.js")).serviceDiff,
  },
  "service token": {
    summary: "get an access token from the running service",
    load: async () => (await import("../commands/service-token.js")).serviceToken,
  },
  "service fault": {
    summary: "let an operation of the running service go wrong",
    load: async () => (await import("../commands/service-control.js")).serviceFault,
  },
  "service clock": {
    summary: "move, stop or show the clock of the running service",
    load: async () => (await import("../commands/service-control.js")).serviceClock,
  },
  "service snapshot": {
    summary: "save the service's state under a name, and restore it",
    load: async () => (await import("../commands/service-control.js")).serviceSnapshot,
  },
  "service journal": {
    summary: "list the requests that the running service received",
    load: async () => (await import("../commands/service-control.js")).serviceJournal,
  },
  "service automation": {
    summary: "run an automation of the running service step by step",
    load: async () => (await import("../commands/service-automation.js")).serviceAutomation,
  },
  "events list": {
    summary: "search the events of the last 7 days",
    load: async () => (await import("../commands/events.js")).eventsList,
  },
  "events show": {
    summary: "show one event with its headers and body",
    load: async () => (await import("../commands/events.js")).eventsShow,
  },
  "events export": {
    summary: "write one event to a file, for replay or verify",
    load: async () => (await import("../commands/events.js")).eventsExport,
  },
  "events diff": {
    summary: "compare two events",
    load: async () => (await import("../commands/events-diff.js")).eventsDiff,
  },
  "events clear": {
    summary: "delete recorded events",
    load: async () => (await import("../commands/events.js")).eventsClear,
  },
  "profile list": {
    summary: "list the profiles of all configuration files",
    load: async () => (await import("../commands/profile.js")).profileList,
  },
  "profile show": {
    summary: "show a profile's effective settings",
    load: async () => (await import("../commands/profile.js")).profileShow,
  },
  "profile add": {
    summary: "add or change a profile",
    load: async () => (await import("../commands/profile.js")).profileAdd,
  },
  "profile use": {
    summary: "choose the profile that is used by default",
    load: async () => (await import("../commands/profile.js")).profileUse,
  },
  "profile remove": {
    summary: "remove a profile from its file",
    load: async () => (await import("../commands/profile.js")).profileRemove,
  },
  "profile path": {
    summary: "list the configuration files that are read",
    load: async () => (await import("../commands/profile-origins.js")).profilePath,
  },
  "profile explain": {
    summary: "show where each value comes from",
    load: async () => (await import("../commands/profile-origins.js")).profileExplain,
  },
  doctor: {
    summary: "check Node version, file modes, ports, proxy, certificates and clock",
    load: async () => (await import("../commands/doctor.js")).doctor,
  },
  explain: {
    summary: "explain an error code, a mistake or an exit code, offline",
    load: async () => (await import("../commands/explain.js")).explain,
  },
  mcp: {
    summary: "give an assistant tools that listen, explain and, if allowed, send",
    load: async () => (await import("../commands/mcp.js")).mcp,
  },
  completion: {
    summary: "print a completion script for bash, zsh, fish or pwsh",
    load: async () => (await import("../commands/completion.js")).completion,
  },
};
