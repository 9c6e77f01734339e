export { type Cause, type DiagnoseInput, type Diagnosis, diagnose } from "./diagnose.js";
