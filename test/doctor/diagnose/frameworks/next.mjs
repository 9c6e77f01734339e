import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { isSigned } from "./signed.mjs";

// A route handler of the app router is a function of a web Request; this is all that Next.js adds to it here.
// --- page
async function POST(request) {
  const body = new Uint8Array(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  return new Response(null, { status: isSigned(headers, body) ? 200 : 401 });
}
// ---
async function wrong(request) {
  const body = JSON.stringify(await request.json());
  return new Response(null, { status: isSigned(Object.fromEntries(request.headers), body) ? 200 : 401 });
}

const listener = getRequestListener(process.env.LISTENER === "wrong" ? wrong : POST);
createServer(listener).listen(Number(process.env.PORT), "127.0.0.1");
