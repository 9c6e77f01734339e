// The table of what can happen to target and headers on their way.
import type { MistakeRow } from "../rows/mistake.js";

/** A row of what the way can do to a request. */
export interface WayChange extends MistakeRow {
  /** Products and settings that are known to do it; empty where anything may. */
  readonly by: readonly string[];
  /** Why it refuses no request: nothing proves what was changed, or a token alone does. It may by default. */
  readonly matters?: "never" | "with a token";
}

const PASS_HEADERS = "Let the proxy pass this header on under its own name.";

/** What happens to method, host, path and query. */
export const TARGET_CHANGES = {
  method: {
    id: "method-changed",
    title: "Another method",
    message: "The method has changed.",
    fix: "Send to the final URL: a redirect that is followed turns a POST into a GET, and loses the body.",
    by: ["redirects from http to https, to or from www, or to a path with a slash at its end"],
  },
  host: {
    id: "host-changed",
    title: "Another host",
    message: "The host has changed.",
    fix: "Configure the listener's URL instead of building it from the request, or pass the host on: in nginx proxy_set_header Host $host, in Apache ProxyPreserveHost On.",
    matters: "with a token",
    by: [
      "nginx (proxy_pass sends its own $proxy_host)",
      "Apache (without ProxyPreserveHost)",
      "API gateways",
      "tunnels",
    ],
  },
  pathPrefixLost: {
    id: "path-prefix-lost",
    title: "Path without its beginning",
    message: "The beginning of the path was cut off.",
    fix: "Let the proxy keep the path: in nginx write proxy_pass without a path, or turn the prefix stripping off.",
    by: [
      "nginx (proxy_pass with a path)",
      "Traefik (StripPrefix)",
      "Kubernetes ingress (rewrite-target)",
      "Apache (ProxyPass of a folder)",
    ],
  },
  pathPrefixAdded: {
    id: "path-prefix-added",
    title: "Path with something in front",
    message: "Something was put in front of the path.",
    fix: "Mount the listener under this path, or let the proxy pass the path on as it is.",
    by: [
      "API gateways (the stage's name)",
      "nginx (proxy_pass with a path)",
      "HAProxy (http-request set-path)",
    ],
  },
  pathSlash: {
    id: "path-slash",
    title: "A slash more or less",
    message: "The path has gained or lost a slash at its end.",
    fix: "Send to the path that the listener has, character by character.",
    by: [
      "web frameworks that redirect to a path with a slash (APPEND_SLASH)",
      "proxies with a location that ends in one",
    ],
  },
  pathNormalised: {
    id: "path-normalised",
    title: "Path spelled otherwise",
    message:
      "The path is the same one in another spelling: slashes merged, dots resolved, or escapes (%2F) decoded.",
    fix: "Send a path without double slashes, dot segments and escapes; they may be rewritten anywhere.",
    by: [
      "nginx (merge_slashes, and decoding where proxy_pass has a path)",
      "Envoy (normalize_path, merge_slashes)",
      "Apache (MergeSlashes)",
      "CDNs",
    ],
  },
  path: {
    id: "path-rewritten",
    title: "Another path",
    message: "The path has changed.",
    fix: "Look for a rewrite rule on the way, and take the listener's path out of it.",
    by: ["rewrite rules (nginx rewrite, Apache mod_rewrite, HAProxy set-path or replace-path)"],
  },
  query: {
    id: "query-changed",
    title: "Another query",
    message: "The query has changed.",
    fix: "A listener's URL has no query: send none, and let nothing add one.",
    by: ["rewrite rules", "CDNs that sort or drop parameters", "link protection and analytics"],
  },
} satisfies Record<string, WayChange>;

/** What happens to header lines. */
export const HEADER_CHANGES = {
  lost: {
    id: "header-lost",
    title: "A header lost",
    message: "A header did not arrive.",
    fix: `${PASS_HEADERS} Look for a list of allowed headers, and for proxy_set_header, header unset or del-header.`,
    by: [
      "CDNs and API gateways that pass on only headers on a list",
      "rules such as Apache's RequestHeader unset, HAProxy's http-request del-header, nginx's proxy_set_header with an empty value",
    ],
  },
  lostUnderscore: {
    id: "header-with-underscore-lost",
    title: "A header with an underscore lost",
    message: "A header whose name has an underscore did not arrive.",
    fix: "Write names with hyphens, as Webhook-Signature. In nginx underscores_in_headers on lets others through.",
    by: [
      "nginx (underscores_in_headers is off by default)",
      "Apache 2.4 (for CGI, PHP and WSGI)",
      "load balancers that drop invalid header fields",
      "HAProxy (option http-restrict-req-hdr-names)",
    ],
  },
  tokenLost: {
    id: "token-lost",
    title: "Authorization lost",
    message: "The header Authorization did not arrive.",
    fix: "Let it through: in Apache CGIPassAuth On or WSGIPassAuthorization On; elsewhere look for who authenticates in front of the listener. A redirect to another host drops it too.",
    by: [
      "Apache (CGI, PHP as CGI or FastCGI, mod_wsgi)",
      "proxies and gateways that authenticate themselves",
      "HTTP clients that follow a redirect to another host",
    ],
  },
  hopByHop: {
    id: "header-named-in-connection",
    title: "A header lost as the connection's own",
    message:
      "A header did not arrive, and the header Connection names it: it is meant for the next hop only.",
    fix: "Do not name it in the header Connection.",
    by: ["every proxy that follows HTTP (RFC 9110, 7.6.1)"],
  },
  renamed: {
    id: "header-renamed",
    title: "A header renamed",
    message: "A header arrived under another name, with the same value.",
    fix: `${PASS_HEADERS} If you cannot, copy the value back before the listener reads it, and only from this proxy.`,
    by: [
      "rules that copy a header and drop the old one (nginx proxy_set_header, Apache RequestHeader, HAProxy set-header)",
      "CGI and WSGI, where what was captured is the environment (HTTP_WEBHOOK_SIGNATURE)",
    ],
  },
  tokenMoved: {
    id: "token-moved",
    title: "The token in another header",
    message: "The token arrived in another header than Authorization.",
    fix: "Let the gateway leave Authorization alone, or copy the value back before the listener reads it, and only from this gateway.",
    by: [
      "API Gateway REST APIs (x-amzn-Remapped-Authorization)",
      "OAuth and IAM proxies (X-Forwarded-Authorization)",
      "serverless platforms (X-Serverless-Authorization)",
      "Apache with mod_rewrite (REDIRECT_HTTP_AUTHORIZATION)",
    ],
  },
  tokenReplaced: {
    id: "token-replaced",
    title: "Another token",
    message: "Authorization holds something else than was sent.",
    fix: "Let the gateway leave Authorization alone for the listener's path: its own token goes into another header.",
    by: [
      "gateways and service meshes that send a token of their own",
      "OAuth proxies",
      "nginx (proxy_set_header Authorization)",
    ],
  },
  tokenStripped: {
    id: "token-signature-removed",
    title: "The token's signature taken away",
    message: "The token arrived without its signature, or with a text in its place.",
    fix: "Authenticate at the platform with another header, or turn its own check off for the listener's path.",
    by: ["serverless platforms that have checked the token themselves (SIGNATURE_REMOVED_BY_…)"],
  },
  doubled: {
    id: "header-doubled",
    title: "A header twice",
    message: "A header arrived more often than it was sent.",
    fix: "Set it in one place: let the proxy replace the header and not add one.",
    by: [
      "rules that add instead of set (HAProxy add-header, Apache RequestHeader add)",
      "middleware that runs twice",
    ],
  },
  joined: {
    id: "header-joined",
    title: "Header lines joined",
    message: "Several lines of a header arrived as one, with commas between.",
    fix: "Send the header once. Proxies may join lines of one name.",
    by: ["CGI, WSGI and PHP", "AWS Lambda (payload format 2.0)", "Node's req.headers and web Headers"],
  },
  linesLost: {
    id: "header-lines-lost",
    title: "One of several lines lost",
    message: "Of several lines of a header, not all arrived.",
    fix: "Send the header once.",
    by: [
      "load balancers in front of Lambda (the last line is kept)",
      "Node's req.headers (the first line of some names is kept)",
      "dictionaries of headers in any language",
    ],
  },
  folded: {
    id: "header-folded",
    title: "A header over several lines",
    message:
      "A header's value was folded or unfolded: line breaks, or the white space inside of it, have changed.",
    fix: "Send the value on one line, without white space that matters.",
    by: [
      "mail gateways and old HTTP libraries",
      "proxies that replace line folding by spaces (RFC 9112, 5.2)",
    ],
  },
  cut: {
    id: "header-cut",
    title: "A header cut off",
    message: "Only the beginning of a header's value arrived.",
    fix: "Look for a limit on header lengths: in nginx large_client_header_buffers, in HAProxy tune.bufsize; or for a column or a variable that is too short.",
    by: ["limits of proxies, logs and databases"],
  },
  changed: {
    id: "header-changed",
    title: "A header changed",
    message: "A header arrived with another value.",
    fix: "Let the proxy pass the value on as it is; look for a rule that sets this header.",
    by: ["rules that set headers", "client libraries that set Content-Type themselves"],
  },
  added: {
    id: "header-added",
    title: "A header that was not sent",
    message: "A header arrived that was not sent.",
    fix: "Look for what sets it. A listener that has two proofs, or one of another method, refuses the request.",
    by: ["gateways that send a token of their own", "middleware that signs again"],
  },
  others: {
    id: "other-headers",
    title: "Other headers",
    message: "Other headers were added, changed or lost. No signature covers them.",
    fix: "Nothing to do, unless a program of yours reads them.",
    matters: "never",
    by: [],
  },
  case: {
    id: "header-case",
    title: "Header names in another case",
    message: "Names of headers arrived in other capitals.",
    fix: "Nothing to do for HTTP, which ignores case; code that reads headers must ignore it too.",
    matters: "never",
    by: ["HTTP/2 and HTTP/3", "HAProxy 2 and later", "Node (req.headers)", "Go (canonical names)"],
  },
} satisfies Record<string, WayChange>;

/** Headers by which proxies, gateways and platforms can be recognised in a request that came through them. */
export const WAY_MARKS: readonly (readonly [header: RegExp, who: string])[] = [
  [/^cf-(?:ray|connecting-ip|visitor)$/, "Cloudflare"],
  [/^x-amzn-trace-id$/, "AWS (load balancer or API Gateway)"],
  [/^x-amz-cf-id$/, "Amazon CloudFront"],
  [/^x-amzn-remapped-/, "API Gateway (REST API)"],
  [/^x-cloud-trace-context$/, "Google Cloud"],
  [/^x-appengine-/, "Google App Engine"],
  [/^x-azure-(?:ref|fdid|socketip)$/, "Azure Front Door"],
  [/^x-arr-(?:log-id|ssl)$/, "IIS with ARR (Azure App Service)"],
  [/^x-appgw-trace-id$|^x-original-host$/, "Azure Application Gateway"],
  [/^x-envoy-/, "Envoy (Istio and other meshes)"],
  [/^x-kong-|^x-consumer-(?:id|username)$/, "Kong"],
  [/^x-forwarded-server$/, "Apache or Traefik"],
  [/^x-varnish$/, "Varnish"],
  [/^x-vercel-/, "Vercel"],
  [/^x-nf-/, "Netlify"],
  [/^fly-/, "Fly.io"],
  [/^x-heroku-|^x-request-start$/, "Heroku or another router that times requests"],
  [/^fastly-/, "Fastly"],
  [/^x-akamai-|^akamai-/, "Akamai"],
  [/^true-client-ip$/, "Akamai or Cloudflare"],
  [/^x-goog-iap-/, "Google's Identity-Aware Proxy"],
  [/^x-auth-request-/, "oauth2-proxy"],
  [/^x-real-ip$/, "nginx or Traefik, as usually configured"],
  [/^x-original-uri$|^x-scheme$/, "Kubernetes ingress (nginx)"],
  [/^(?:x-forwarded-(?:for|proto|host|port)|forwarded|via)$/, "a proxy or load balancer"],
];
