// The page of the API reference, and the style of all pages.
import { readFile } from "node:fs/promises";
import express, { type Router } from "express";
import { packageFile } from "../package-files.js";
import { pageHeaders } from "../server/page-headers.js";

const PATH = "/reference";

/** What the pages load: each is made by the build. */
const FILES = {
  "style.css": packageFile("dist/pages/style.css"),
  "icon.svg": packageFile("dist/pages/icon.svg"),
  "page.js": packageFile("dist/pages/reference.js"),
  "viewer.js": packageFile("reference/openapi-explorer.min.js"),
};

/** A page of the service in the style of all of them. */
export function htmlPage(title: string, { head = "", body }: { head?: string; body: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${PATH}/icon.svg">
<link rel="stylesheet" href="${PATH}/style.css">
${head}</head>
<body>
${body}
</body>
</html>
`;
}

const PAGE = htmlPage("API reference - Access Governance Service", {
  head: ["page.js", "viewer.js"]
    .map((name) => `<script type="module" src="${PATH}/${name}"></script>\n`)
    .join(""),
  body: `<header class="top">
<h1><img src="${PATH}/icon.svg" alt="" width="24" height="24"> Access Governance Service: API reference</h1>
<a href="/">Start</a>
<a href="/openapi.json">OpenAPI document</a>
</header>
<openapi-explorer spec-url="/openapi.json" hide-server-selection hide-components></openapi-explorer>`,
});

/** No script but the viewer's own file. The viewer sets styles on its elements. */
const HEADERS = pageHeaders(
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
);

/** The API reference: a viewer of the OpenAPI document that needs no network. */
export function referencePage(): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(PATH, (_req, res, next) => {
    res.set(HEADERS);
    next();
  });
  router.get(PATH, (_req, res) => void res.type("html").send(PAGE));
  for (const [name, file] of Object.entries(FILES))
    router.get(`${PATH}/${name}`, async (_req, res) => void res.type(name).send(await readFile(file)));
  return router;
}
