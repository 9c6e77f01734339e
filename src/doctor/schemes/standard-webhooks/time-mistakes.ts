// Rows of mistakes in the header webhook-timestamp of Standard Webhooks.
import { isTimestamp, TIMESTAMP_TOLERANCE_SECONDS } from "../../../core/protocol.js";
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

/** How far the timestamp is from the receiver's time, in seconds. Every recorded request comes to this after some time. */
export const AGE_MISTAKES: readonly FoundMistake<number>[] = [
  {
    id: "timestamp-too-old",
    title: "Timestamp too old",
    message: "webhook-timestamp lies more than 5 minutes in the past.",
    fix: "Sign each attempt again, with a fresh timestamp and the same webhook-id, and look at both clocks.",
    find(age) {
      return age > TIMESTAMP_TOLERANCE_SECONDS && `${this.message} It is ${age} s old.`;
    },
  },
  {
    id: "timestamp-ahead",
    title: "Timestamp in the future",
    message: "webhook-timestamp lies more than 5 minutes in the future.",
    fix: "Set the sender's clock, and take the time in UTC: Math.floor(Date.now() / 1000).",
    find(age) {
      return age < -TIMESTAMP_TOLERANCE_SECONDS && `${this.message} It is ${-age} s ahead.`;
    },
  },
];

function isDate(text: string): boolean {
  return text.length <= 64 && /[-:,a-z]/i.test(text) && !Number.isNaN(Date.parse(text));
}
