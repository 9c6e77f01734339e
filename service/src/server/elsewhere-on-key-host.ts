// The answer of a key set's host wherever the key set is not: it says where the set is.
import type { IncomingMessage, ServerResponse } from "node:http";
import { sendAnswer } from "hookproof/node";
import { pageHeaders } from "./page-headers.js";

const TITLE = "Key set host";
const STYLE =
  "html{background:Canvas;color:CanvasText}body{margin:4rem auto;max-width:38rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}h1{font-size:1.4rem}a{overflow-wrap:anywhere}";

/** Answers 404: in words for a program, with a link for a browser. Nothing of the request is in the answer. */
export function answerElsewhere(path: string, request: IncomingMessage, response: ServerResponse): void {
  const isBrowser = (request.headers.accept ?? "").includes("text/html");
  const headers = isBrowser
    ? pageHeaders("style-src 'unsafe-inline'", "img-src data:")
    : { "X-Content-Type-Options": "nosniff" };
  sendAnswer(
    {
      status: 404,
      headers: [
        ["Content-Type", `text/${isBrowser ? "html" : "plain"}; charset=utf-8`],
        ["Vary", "Accept"],
        ...Object.entries(headers),
      ],
      body: isBrowser ? pageOf(path) : `There is no key set at this path. It is at ${path}\n`,
    },
    request,
    response,
  );
}

function pageOf(path: string): string {
  const shown = path.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${TITLE}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${TITLE}</h1>
<p>There is no key set at this path. It is at <a href="${shown}">${shown}</a>: public keys, with which listeners check the signatures of tokens.</p>
</main>
</body>
</html>
`;
}
