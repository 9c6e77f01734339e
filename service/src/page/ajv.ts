// The validator, in a file of its own, so that it is loaded when it is needed first.
export { Ajv2020 } from "ajv/dist/2020.js";
