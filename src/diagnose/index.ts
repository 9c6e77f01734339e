export { causes } from "./causes.js";
export { type CodeDescription, describeCode, errorCodes } from "./describe-code.js";
export { type Cause, type DiagnoseInput, type Diagnosis, diagnose } from "./diagnose.js";
export type { KnownListener } from "./explain-credential.js";
export type { Mistake } from "./mistake.js";
