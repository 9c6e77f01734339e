import { readFile } from "node:fs/promises";
import express, { type Router } from "express";
import { openApiDocument } from "./openapi-document.js";

const PATH = "/reference";

// This file stays in src itself, so that the path is the same from src and from dist. The build puts the viewer there.
const viewer = new URL("../reference/openapi-explorer.min.js", import.meta.url);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Access Governance Service: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${PATH}/page.css">
<script type="module" src="${PATH}/viewer.js"></script>
</head>
<body>
<openapi-explorer spec-url="${PATH}/openapi.json" server-url="/" hide-server-selection></openapi-explorer>
</body>
</html>
`;

const STYLE = `body { margin: 0; }
openapi-explorer { --font-regular: system-ui, sans-serif; --font-mono: ui-monospace, monospace; }
`;

/** Nothing from elsewhere, and no script but the viewer's own file. The viewer sets styles on its elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The API reference: the OpenAPI document, and a viewer of it that needs no network. */
export function referencePage(): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(PATH, (_req, res, next) => {
    res.set({
      "Content-Security-Policy": POLICY,
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
    });
    next();
  });
  router.get(PATH, (_req, res) => void res.type("html").send(PAGE));
  router.get(`${PATH}/page.css`, (_req, res) => void res.type("css").send(STYLE));
  router.get(`${PATH}/openapi.json`, (_req, res) => void res.json(openApiDocument));
  router.get(`${PATH}/viewer.js`, async (_req, res) => {
    res.type("js").send(await readFile(viewer));
  });
  return router;
}
