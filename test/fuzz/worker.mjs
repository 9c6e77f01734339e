// Starts the thread of the fuzzer: Node's own threads do not read TypeScript.
import { register } from "tsx/esm/api";

register();
await import("./worker.ts");
