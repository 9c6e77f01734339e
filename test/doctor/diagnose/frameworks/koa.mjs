import { createRequire } from "node:module";
import { isSigned } from "./signed.mjs";

const require = createRequire(new URL("node/package.json", import.meta.url));
const Koa = require("koa");
const bodyParser = require("koa-bodyparser");

const app = new Koa();
if (process.env.LISTENER === "wrong")
  app.use(bodyParser()).use((ctx) => {
    ctx.status = isSigned(ctx.headers, JSON.stringify(ctx.request.body)) ? 200 : 401;
  });
else {
  // --- page
  app.use(async (ctx) => {
    const chunks = [];
    for await (const chunk of ctx.req) chunks.push(chunk);
    ctx.status = isSigned(ctx.headers, Buffer.concat(chunks)) ? 200 : 401;
  });
  // ---
}
app.listen(Number(process.env.PORT), "127.0.0.1");
