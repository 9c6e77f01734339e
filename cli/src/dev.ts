// Runs the command from its sources, without a build: npm run dev -- send :4400 --data 1.
import { main } from "./main.js";

process.exitCode = await main(process.argv.slice(2));
