// One operation in a process of its own: node against-case.mjs <operation> <port>.
import { operations } from "./operations.mjs";
import { serveRounds } from "./serve-rounds.mjs";

const [work, perCall] = await operations[process.argv[2]]();
serveRounds(work, perCall);
