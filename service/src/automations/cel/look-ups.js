// Functions that the service answers: an evaluation that needs one ends, and begins again with what it gave.
import { CelScalar, celFunc, isCelList, isCelMap, listType, mapType, objectType } from "@bufbuild/cel";
import { create, fromJson } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { timestampOf } from "./functions.js";
import { nearestName } from "./nearest-name.js";
import { BothSpellings, celValue, jsonValue } from "./values.js";

/** The most look-ups of one evaluation. */
const MAX_LOOK_UPS = 100;
/** The most ids that one look-up takes. */
const MAX_IDS = 100;
/** The most that is sent to the service for one look-up, in characters. */
const MAX_QUESTION = 65_536;
const { BOOL, DOUBLE, DYN, INT, STRING } = CelScalar;
const TIMESTAMP = objectType(TimestampSchema);
const TYPES = {
  string: STRING,
  int: INT,
  double: DOUBLE,
  bool: BOOL,
  timestamp: TIMESTAMP,
  duration: objectType(DurationSchema),
  list: listType(DYN),
  map: mapType(DYN, DYN),
  dyn: DYN,
};

let found = new Map();
let wanted = new Map();
let now = 0;

/** Begins an evaluation with what is known so far: the time, and what look-ups gave. */
export function beginLookUps(request) {
  found = new Map(request.found ?? []);
  wanted = new Map();
  now = request.now ?? 0;
}

/** The look-ups that are needed and not known yet, by their keys. */
export function wantedLookUps() {
  return [...wanted];
}

/** The functions that the service answers, and `now()`. */
export function lookUpFunctions(signatures) {
  return [
    celFunc("now", [], TIMESTAMP, timeNow),
    ...signatures.map(({ name, takes, gives }) =>
      celFunc(
        name,
        takes.map((type) => TYPES[type] ?? DYN),
        TYPES[gives],
        (...args) =>
          lookedUp(
            name,
            args.map((arg, index) => asked(takes[index], arg)),
            gives,
          ),
      ),
    ),
  ];
}

function timeNow() {
  const seconds = Math.floor(now / 1000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (now - seconds * 1000) * 1_000_000 });
}

/** An argument as JSON; of a user only the id, whatever else it has. */
function asked(type, arg) {
  if (type === "user") return idOf(arg);
  if (type !== "users") return jsonValue(arg);
  const ids = isCelList(arg) ? Array.from(arg, idOf) : [idOf(arg)];
  if (ids.length > MAX_IDS) throw new Error(`more than ${MAX_IDS} users are asked for at once`);
  return ids;
}

function idOf(user) {
  const id = isCelMap(user) ? user.get("id") : undefined;
  if (typeof id !== "string") throw new Error("a user is a map with the member id, which is a text");
  return id;
}

function lookedUp(name, args, gives) {
  const key = JSON.stringify([name, ...args]);
  const answer = found.get(key);
  if (answer?.failure !== undefined) throw new Error(answer.failure);
  if (answer) return given(name, JSON.parse(answer.json), gives);
  if (key.length > MAX_QUESTION)
    throw new Error(`the arguments of ${name} are longer than ${MAX_QUESTION} characters`);
  if (found.size + wanted.size >= MAX_LOOK_UPS) throw new Error(`more than ${MAX_LOOK_UPS} look-ups`);
  wanted.set(key, { name, args });
  throw new Error(`${name} is not known yet`);
}

/** A value as its function says it is; a stub may give another one. */
function given(name, json, gives) {
  const kind = kindOf(json);
  const fits = {
    string: kind === "string",
    int: kind === "number" && Number.isSafeInteger(json),
    double: kind === "number",
    bool: kind === "boolean",
    timestamp: kind === "string",
    duration: kind === "string",
    list: kind === "list",
    map: kind === "map",
    dyn: true,
  };
  if (!fits[gives])
    throw new Error(`${name} gives ${kind === "null" ? "null" : `a ${kind}`}, and not ${gives}`);
  if (gives === "int") return BigInt(json);
  if (gives === "timestamp") return timestampOf(json);
  if (gives === "duration") return fromJson(DurationSchema, json);
  return celValue(json, 0, BothSpellings);
}

function kindOf(json) {
  if (json === null) return "null";
  if (Array.isArray(json)) return "list";
  return typeof json === "object" ? "map" : typeof json;
}

/** The end of a sentence about a function that there is not: the nearest one, where one is near. */
export function didYouMean(name, functions) {
  const names = new Set(Array.from(functions, (each) => each.name).filter((each) => /^[a-z]/i.test(each)));
  const near = nearestName(name, names);
  return near === undefined ? "" : `; did you mean ${near}?`;
}
