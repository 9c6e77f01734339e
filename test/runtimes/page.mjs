// Runs the suite in a browser and posts the results to where the page came from. A page cannot send webhooks to
// another origin, so only what stays in the process is run.
import vectors from "../../vectors/protocol.json";
import { runSuite } from "./suite.mjs";

const results = await runSuite({ vectors });
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
