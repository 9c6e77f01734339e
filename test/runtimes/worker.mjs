// Runs the suite in workerd: every request is answered with the results.
import vectors from "../../vectors/protocol.json";
import { runSuite } from "./suite.mjs";

export default {
  async fetch(_request, { LISTENER_URL }) {
    return Response.json(await runSuite({ vectors, listenerUrl: LISTENER_URL }));
  },
};
