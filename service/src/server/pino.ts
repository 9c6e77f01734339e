// The writer of logs, in a file of its own, so that it is loaded when it is needed first.
export { pino } from "pino";
