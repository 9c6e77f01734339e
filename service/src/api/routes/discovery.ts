// Tells clients and people where things are.
import express, { type Router } from "express";
import { packageVersion } from "../../package-files.js";
import { pageHeaders } from "../../server/page-headers.js";
import { sendJson } from "../../server/send-json.js";
import type { ServiceContext } from "../../server/service-context.js";
import { operation } from "../operations.js";
import { htmlPage } from "../reference-page.js";

const METADATA_PATH = "/.well-known/oauth-authorization-server";
const KEYS_PATH = "/.well-known/jwks.json";
const KEYS_MAX_AGE_SECONDS = 300;

/** What tells a client or a person where things are: OAuth metadata, the keys of access tokens, the start page. */
export function discoveryRouter({
  baseUrl,
  tokens,
  wireNames,
}: Pick<ServiceContext, "baseUrl" | "tokens" | "wireNames">): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get(METADATA_PATH, (req, res) => {
    // RFC 8414 section 2; RFC 9068 has the form of the access tokens.
    const metadata = {
      issuer: baseUrl,
      token_endpoint: baseUrl + operation("createToken").path,
      jwks_uri: baseUrl + KEYS_PATH,
      response_types_supported: [],
      grant_types_supported: ["client_credentials"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt"],
      token_endpoint_auth_signing_alg_values_supported: ["EdDSA", "Ed25519"],
      service_documentation: `${baseUrl}/reference`,
    };
    sendJson(200, metadata, req, res);
  });
  router.get(KEYS_PATH, (req, res) => {
    res.set("Cache-Control", `public, max-age=${KEYS_MAX_AGE_SECONDS}`);
    sendJson(200, { keys: tokens.publicKeys() }, req, res);
  });
  router.get("/openapi.json", (req, res) => sendJson(200, wireNames.document, req, res));
  router.get("/", (req, res) => {
    if (req.accepts(["json", "html"]) === "html") {
      res.set(pageHeaders("style-src 'self'", "img-src 'self'"));
      res.type("html").send(startPage());
      return;
    }
    const links = {
      name: "Access Governance Service, local",
      version: packageVersion(),
      reference: `${baseUrl}/reference`,
      openapi: `${baseUrl}/openapi.json`,
      metadata: baseUrl + METADATA_PATH,
      token: baseUrl + operation("createToken").path,
      health: `${baseUrl}/healthz`,
    };
    sendJson(200, links, req, res);
  });
  return router;
}

function startPage(): string {
  return htmlPage("Access Governance Service, local", {
    body: `<header class="top">
<h1><img src="/reference/icon.svg" alt="" width="24" height="24"> Access Governance Service</h1>
</header>
<main class="welcome">
<p>This is the local service of hookproof ${packageVersion()}, for development and tests. It is running.</p>
<ul>
<li><a href="/reference">API reference</a>: every operation, with its fields</li>
<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="${METADATA_PATH}">OAuth metadata</a> and <a href="${KEYS_PATH}">keys of the access tokens</a></li>
<li><a href="/readyz">Readiness</a></li>
</ul>
<h2>Call it</h2>
<p><code>hookproof service routes</code> prints every operation with ids that are there, and
<code>hookproof service token</code> an access token.</p>
</main>`,
  });
}
