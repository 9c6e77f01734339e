import Fastify from "fastify";
import { isSigned } from "./signed.mjs";

const right = async (app) => {
  // --- page
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
  app.post("/api/v1/webhooks/incoming/:id", (request, reply) => {
    reply.code(isSigned(request.headers, request.body) ? 200 : 401).send();
  });
  // ---
};
const wrong = async (app) => {
  app.post("/api/v1/webhooks/incoming/:id", (request, reply) => {
    reply.code(isSigned(request.headers, JSON.stringify(request.body)) ? 200 : 401).send();
  });
};

const app = Fastify();
await app.register(process.env.LISTENER === "wrong" ? wrong : right);
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
