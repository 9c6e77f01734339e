import { createRequire } from "node:module";
import { isSigned } from "./signed.mjs";

const require = createRequire(new URL("node/package.json", import.meta.url));
require("reflect-metadata");
const { Controller, HttpCode, Module, Post, Req, UnauthorizedException } = require("@nestjs/common");
const { NestFactory } = require("@nestjs/core");

const isWrong = process.env.LISTENER === "wrong";

// Decorators, as TypeScript would apply them.
class Incoming {
  receive(request) {
    const body = isWrong ? JSON.stringify(request.body) : request.rawBody;
    if (!isSigned(request.headers, body)) throw new UnauthorizedException();
  }
}
Req()(Incoming.prototype, "receive", 0);
const method = Object.getOwnPropertyDescriptor(Incoming.prototype, "receive");
Post("*path")(Incoming.prototype, "receive", method);
HttpCode(200)(Incoming.prototype, "receive", method);
Controller()(Incoming);
class App {}
Module({ controllers: [Incoming] })(App);

// --- page
const app = await NestFactory.create(App, { rawBody: true });
// ---
await app.listen(Number(process.env.PORT), "127.0.0.1");
