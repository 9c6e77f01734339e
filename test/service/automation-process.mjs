// @ts-check
// A service of its own over a database file, until it is killed. It prints its URL, and an access token.
// Plain JavaScript, so that it is the built package that is started.
import { createService } from "hookproof-service";

const service = await createService({ db: process.argv[2] });
console.log(JSON.stringify({ url: service.url, token: await service.token() }));
process.once("disconnect", () => process.exit());
