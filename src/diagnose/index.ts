export { type CodeDescription, describeCode, errorCodes } from "./describe-code.js";
export { type Cause, type DiagnoseInput, type Diagnosis, diagnose } from "./diagnose.js";
