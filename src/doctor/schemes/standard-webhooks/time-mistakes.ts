// Rows of mistakes in the header webhook-timestamp of Standard Webhooks.
import { isTimestamp } from "../../../core/protocol.js";
import type { FoundMistake } from "../../rows/mistake.js";

const SECONDS =
  "Send whole Unix seconds: String(Math.floor(Date.now() / 1000)), in the header and in what is signed.";

/** How the timestamp is written; how old it is says the receiver. */
export const TIME_MISTAKES: readonly FoundMistake<string>[] = [
  {
    id: "timestamp-in-milliseconds",
    title: "Timestamp in milliseconds",
    message: "webhook-timestamp is in milliseconds, or in a unit that is finer. It must be in seconds.",
    fix: SECONDS,
    find: (text) => /^[0-9]{12,20}$/.test(text),
  },
  {
    id: "timestamp-with-decimals",
    title: "Timestamp with decimals",
    message: "webhook-timestamp has decimals. It must be in whole seconds.",
    fix: SECONDS,
    find: (text) => /^[0-9]{1,20}\.[0-9]*$/.test(text),
  },
  {
    id: "timestamp-is-a-date",
    title: "A date as timestamp",
    message: "webhook-timestamp is a date. It must be a Unix time in seconds.",
    fix: SECONDS,
    find: (text) => isDate(text),
  },
  {
    id: "timestamp-not-a-number",
    title: "Not a timestamp",
    message: "webhook-timestamp is no Unix time: digits only, without sign, leading zero or white space.",
    fix: SECONDS,
    find: (text) => !isTimestamp(text) && !/^[0-9]{12,20}$|^[0-9]{1,20}\.[0-9]*$/.test(text) && !isDate(text),
  },
];

function isDate(text: string): boolean {
  return text.length <= 64 && /[-:,a-z]/i.test(text) && !Number.isNaN(Date.parse(text));
}
