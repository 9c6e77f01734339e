import { accepts, type Recipe, refuses } from "./recipe.js";

const REMEMBER = "Keep processed ids for each listener for 7 days, and answer 409 before anything runs.";

/** Probes about processed event ids. All but the first half of each is refused; the first half runs the automation. */
export const REPLAY_PROBES: readonly Recipe[] = [
  refuses(409, {
    id: "event-id-processed",
    title: "a processed event id again, freshly proved",
    section: "7",
    runsAutomation: true,
    before: { build: (craft) => craft.signed(), status: 200 },
    means: "The automation runs twice whenever a sender retries.",
    fix: REMEMBER,
    build: (craft) => craft.signed(),
  }),
  refuses(409, {
    id: "event-id-processed-other-body",
    title: "a processed event id again with another body, correctly proved",
    section: "6",
    runsAutomation: true,
    before: { build: (craft) => craft.signed(), status: 200 },
    means: "Duplicates are recognised by more than the event id, which alone identifies an event.",
    fix: REMEMBER,
    build: (craft) => craft.signed({ body: '{"type":"hookproof.probe","n":2}' }),
  }),
  refuses(409, {
    id: "event-id-processed-other-case",
    title: "a processed event id again in lower case, first sent in upper case",
    section: "5.2",
    runsAutomation: true,
    leftOpen: "refusal",
    decision: "R10",
    before: { build: (craft) => craft.signed({ eventId: craft.eventId.toUpperCase() }), status: 200 },
    means: "The same UUID in another spelling runs the automation again.",
    fix: "Lower-case the event id before it is looked up and stored.",
    build: (craft) => craft.signed(),
  }),
  refuses(401, {
    id: "event-id-processed-bad-proof",
    title: "a processed event id again with a proof by somebody else",
    section: "4.10",
    runsAutomation: true,
    before: { build: (craft) => craft.signed(), status: 200 },
    means: "The event id is looked up before authentication, so strangers learn which ids were processed.",
    fix: "Authenticate first, and only then look up the event id.",
    build: (craft) => craft.signedByStranger(),
  }),
  accepts({
    id: "event-id-of-refused-request",
    title: "the event id of a request that was refused before, now correctly proved",
    section: "3",
    leftOpen: "refusal",
    decision: "R11",
    before: { build: (craft) => craft.signedByStranger(), status: 401 },
    means: "A refused request uses up its id, so a stranger can keep an event from being delivered.",
    fix: "Store the event id only once the event is accepted.",
    build: (craft) => craft.signed(),
  }),
  accepts({
    id: "event-id-copies-at-once",
    title: "five copies of one event at the same time; one is accepted, the others are 409 or 503",
    section: "6",
    copies: 5,
    means: "Looking the id up and storing it are two steps, and copies slip in between.",
    fix: "Reserve the id in one atomic step (INSERT with a unique key, SET NX) before the automation runs.",
    build: (craft) => craft.signed(),
  }),
];
