export { type FixedClock, fixedClock } from "./fixed-clock.js";
