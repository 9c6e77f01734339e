/** A statement of the document about the service, and the test that shows whether it holds. */
export interface Statement {
  /** A part of the line it comes from, which no other line of its section has. */
  readonly line: string;
  readonly says: string;
  /** The test: a file of test/service and the title in it, as the source has it. */
  readonly shown: Test;
  /** How the service differs, and why. */
  readonly differs?: string;
}

type Test = readonly [file: string, title: string];

const CONTRACT: Test = ["contract.test.ts", "%s: %i is what the document says"];
const PARAMETERS: Test = ["document.test.ts", "has the parameters of $section: $path"];
const FIELDS: Test = ["conformance/resources.test.ts", "has every field of the table of %s, as it was given"];
const POLICY: Test = ["conformance/resources.test.ts", "has the provisioning policy %s, as it was given"];
const PROVIDER: Test = ["operations.test.ts", "%s has its provider's member"];
const SCALARS: Test = [
  "operations.test.ts",
  "has every scalar, leaves out what is not set, and never shows a client secret",
];
const TEXT: Test = ["conformance/resources.test.ts", "of text has its fields, and the format %s"];
const FILE: Test = [
  "conformance/resources.test.ts",
  "of a file has its fields, and a URL in the place of the content",
];
const DOWNLOAD: Test = [
  "secrets.test.ts",
  "gives a URL that is good for 5 minutes, and the audit knows who downloaded",
];
const HYBRID: Test = ["secrets.test.ts", "encrypts to a hybrid recipient, which age-encryption reads again"];
const INTERNAL: Test = [
  "secrets.test.ts",
  "is 403 for an INTERNAL secret and a user outside its list, and the audit knows",
];
const AUDIT: Test = [
  "secrets.test.ts",
  "combines its filters with and; part of an address is enough, of an IP it is not",
];
const DELETED: Test = ["operations.test.ts", "is gone once it is deleted"];
const MASK: Test = ["operations.test.ts", "a mask of %s"];
const COHORT: Test = [
  "operations.test.ts",
  "is in the order of display names, with what is deprecated empty",
];
const FILTERS: Test = ["operations.test.ts", "finds by %s"];
const ENTITLEMENT_OWNER: Test = [
  "conformance/resources.test.ts",
  "an owner entitlement has its entitlement, app, role and time",
];
const USER_OWNER: Test = ["conformance/resources.test.ts", "a user owner has its app, role, user and time"];
const CREDENTIALS: Test = [
  "operations.test.ts",
  "lists the credentials of a bridge, active and revoked, without their secrets (4.9)",
];
const SPELLINGS: Test = [
  "real-clients.test.ts",
  "are taken in both spellings by %s, and refused where they disagree",
];
const ENVELOPE: Test = [
  "conformance/calls.test.ts",
  "%s that succeeds is 200 with application/json, camelCase and times in UTC",
];
const BEARER: Test = ["conformance/calls.test.ts", "%s is 401 without a bearer token"];
const SIZES: Test = [
  "conformance/calls.test.ts",
  "of %s has pages of 10 to 100, and of 25 if none is asked for",
];
const PAGES: Test = [
  "conformance/calls.test.ts",
  "of %s has a token on each page but the last, which leads to the next",
];
const IGNORED: Test = [
  "conformance/calls.test.ts",
  "selectedEntitlements changes nothing, and usersWithCoverage is empty",
];
const IN_BODY: Test = [
  "conformance/calls.test.ts",
  "are taken in the body of a token request and refused in its headers",
];
const DEPRECATED: Test = ["document.test.ts", "marks what is deprecated"];
const DECLARED: Test = ["document.test.ts", "declares both security schemes, and the version"];
const SUPER_ADMIN: Test = ["automations.test.ts", "is the Super Admin's"];
const MADE: Test = [
  "automations.test.ts",
  "gets a listener when it is made, and for HMAC a secret that is shown once",
];
const RANGES: Test = ["ingestion.test.ts", "are held against the peer of the connection"];
const MISSING: Test = ["conformance/webhooks.test.ts", "without %s it is 400"];
const NO_PROOF: Test = ["conformance/webhooks.test.ts", "without a proof it is 401, by either method"];
const WINDOW: Test = ["conformance/webhooks.test.ts", "a timestamp %i s away is %i"];
const UUID: Test = ["conformance/webhooks.test.ts", "an event id of %s, which is no UUID v4, is 400"];
const ANY_JSON: Test = ["conformance/webhooks.test.ts", "may be any JSON"];
const NO_JSON: Test = ["conformance/webhooks.test.ts", "that is no JSON is 400"];
const SIZE: Test = ["conformance/webhooks.test.ts", "has at most 64 KB"];
const SECRET: Test = [
  "conformance/webhooks.test.ts",
  "gives a secret of 256 bit in base64url, whose text is the key",
];
const SIGNED: Test = [
  "conformance/webhooks.test.ts",
  "signs timestamp, event id and body, joined by periods",
];
const PADDING: Test = ["conformance/webhooks.test.ts", "takes the signature without padding only"];
const CHANGED: Test = ["conformance/webhooks.test.ts", "refuses a body that was changed, be it by a blank"];
const ALGORITHMS: Test = ["conformance/webhooks.test.ts", "takes a token signed by %s"];
const CLAIMS: Test = ["conformance/webhooks.test.ts", "is 401 where %s"];
const AHEAD: Test = ["conformance/webhooks.test.ts", "takes an exp of 10 minutes ahead"];
const KID: Test = [
  "conformance/webhooks.test.ts",
  "is 401 where the kid is not in the key set, and where the signature is by another key",
];
const UNREACHABLE: Test = ["conformance/webhooks.test.ts", "is 401 where the key set cannot be fetched"];
const HTTPS: Test = [
  "conformance/webhooks.test.ts",
  "has its key set behind HTTPS, unless the service is told otherwise",
];
const ORDER: Test = [
  "conformance/webhooks.test.ts",
  "is looked at after the proof: what is refused does not use it up",
];
const ONCE: Test = ["conformance/webhooks.test.ts", "runs the automation once at each listener that gets it"];
const REMEMBERED: Test = ["conformance/webhooks.test.ts", "is remembered for 7 days"];
const CONTEXT: Test = ["conformance/webhooks.test.ts", "is ctx.trigger, by a dot and by brackets"];

const NEUTRAL =
  "its name is the document's neutral word and not that of the wire; `wireNames` gives it the one that a client expects";
const HIDDEN = "it is always the empty text: a secret is not given back once it is stored";

type Row = readonly [line: string, says: string, shown: Test, differs?: string];

const ROWS: readonly (readonly [section: string, rows: readonly Row[]])[] = [
  [
    "",
    [
      [
        "Addresses:",
        "Access tokens come from `/auth/v1/token` under the base address.",
        ["discovery.test.ts", "leads a standard client from the service's address to a token"],
      ],
    ],
  ],
  [
    "1",
    [
      ["Authentication provider configurations", "Auth configs can be read and deleted.", DELETED],
      ["Resource types of an app", "Resource types that are managed by hand can be updated.", MASK],
      [
        "Resource types of an app",
        "Others cannot.",
        ["operations.test.ts", "one that is not manually managed is 400, and stays as it is"],
      ],
      ["App entitlements and their", "Owners of entitlements and of app users can be read.", USER_OWNER],
      ["Role mining", "The users of a suggestion's cohort can be searched.", COHORT],
      [
        "Paper secrets: one-time",
        "A secret may have one view, or several.",
        ["secrets.test.ts", "counts down to 0 and never past it"],
      ],
      [
        "Paper secrets: one-time",
        "One view is for one reader, however many come at once.",
        ["secrets.test.ts", "gives one view to one of 50 readers at once"],
      ],
      ["Paper secrets: one-time", "What happened to secrets can be searched by an admin.", AUDIT],
      ["Tunnel bridge credentials", "The credentials of a bridge can be listed.", CREDENTIALS],
      [
        "Inbound webhooks that trigger",
        "A signed POST triggers an automation.",
        [
          "ingestion.test.ts",
          "is accepted once, runs the steps, and can be read back with what became of each",
        ],
      ],
      [
        "Field names are camelCase",
        "Members of answers are in camelCase.",
        ENVELOPE,
        "members of an audit event have the names of OCSF (`activity_name`, `src_endpoint`), as the document shows no field of one (2.10)",
      ],
      ["Timestamps are", "Times are ISO 8601 in UTC.", ENVELOPE],
      [
        "Timestamps are",
        "A time that was given with an offset is answered in UTC, too.",
        ["conformance/resources.test.ts", "a time that was given with an offset is answered in UTC"],
      ],
      ["List and search operations", "Lists and searches have pages.", PAGES],
      ["A successful call", "Success is 200 with `application/json`.", ENVELOPE],
      ["Enumerated fields may carry", "Enumerated values that nobody knows pass through.", PROVIDER],
    ],
  ],
  [
    "2.1",
    [
      ["One of `encryptedContent`", "A text has `encryptedContent` and no `downloadUrl`.", TEXT],
      ["One of `encryptedContent`", "A file has `downloadUrl` and no `encryptedContent`.", FILE],
      ["| encryptedContent", "The content of a text is base64.", TEXT],
      ["| encryptedContent", "It is encrypted to the recipient in the request.", HYBRID],
      ["| downloadUrl", "A file has a presigned URL.", DOWNLOAD],
      ["| downloadUrl", "The URL is good for 5 minutes.", DOWNLOAD],
      [
        "| downloadUrl",
        "The file is as its creator has encrypted it.",
        ["objects.test.ts", "come back byte by byte from the URL, for the reader it was made for"],
      ],
      ["| createdAt", "`createdAt` is the time of creation.", TEXT],
      ["| creatorUserId", "`creatorUserId` is who created it.", TEXT],
      ["| filename", "`filename` is the name of a file, and empty for a text.", FILE],
      ["| inputFormat", "`inputFormat` has the five values of the document.", TEXT],
      ["| secretType", "`secretType` says text or file.", FILE],
      ["| viewsRemaining", "`viewsRemaining` is what is left after this view.", TEXT],
      ["| viewsRemaining", "-1 is without limit.", FILE],
    ],
  ],
  [
    "2.2",
    [
      ...(
        [
          "id",
          "displayName",
          "bootstrapDomains",
          "isDefaultBootstrap",
          "deprecationDeadline",
          "deprecationMessage",
        ] as const
      ).map((name): Row => [`| ${name} |`, `\`${name}\` is in the answer, of its type.`, FIELDS]),
      ["| createdAt, updatedAt", "`createdAt` and `updatedAt` are in the answer.", FIELDS],
      [
        "| providerType |",
        "`providerType` is an enumerated text; without a provider it is UNSPECIFIED.",
        ["start.test.ts", "is that of its provider: %s"],
      ],
      ["| status |", "`status` is an enumerated text, UNSPECIFIED among its values.", SCALARS],
      [
        "Provider configuration: at most one",
        "An auth config with two provider members is refused.",
        ["start.test.ts", "is named with file, line and path: %s"],
      ],
      ["| tenant-id provider", "`microsoft` has `tenantIds`.", PROVIDER],
      ["first kind (okta kind)", "`okta` has a domain, a client id and a client secret.", SCALARS],
      ["second kind (onelogin kind)", "`onelogin` has the same members.", PROVIDER],
      ["| client-only provider", "`jumpcloud` has a client id and a client secret.", PROVIDER],
      ["| environment provider", "`pingone` has an environment, a client id and a client secret.", PROVIDER],
      ["| oidc |", "`oidc` has an issuer, a client, scopes and claims that must match.", PROVIDER],
      ["| svcLocal", "`svcLocal` has `delegatedVerifiers`, enumerated texts.", PROVIDER, NEUTRAL],
      [
        "The response also carries a hosted-domain",
        "`google` has hosted domains, and may stand next to another member.",
        PROVIDER,
      ],
      ["Client secrets (`oidcClientSecret`)", "`oidcClientSecret` is in the answer.", SCALARS, HIDDEN],
    ],
  ],
  [
    "2.3",
    [
      ...(["id", "appId", "displayName", "traitIds"] as const).map(
        (name): Row => [`| ${name} |`, `\`${name}\` is in the answer, of its type.`, FIELDS],
      ),
      ["| createdAt, updatedAt, deletedAt", "Its three times are in the answer.", FIELDS],
      ["The update response also carries", "`expanded` is a list of objects; here it is always empty.", MASK],
    ],
  ],
  [
    "2.4",
    [
      ["Returned inside", "Users are in cohort searches.", COHORT],
      ["Returned inside", "Users are in searches for user owners.", USER_OWNER],
      ["| id, username", "The texts of a user are in the answer.", FIELDS],
      ["| usernames", "The lists of a user are in the answer.", FIELDS],
      ["| directoryStatus |", "`directoryStatus` may be UNKNOWN.", FIELDS],
      ["| status |", "`status` may be UNKNOWN.", FIELDS],
      ["| origin", "`origin` may be USER_ORIGIN_UNSPECIFIED.", FIELDS],
      ["| type |", "`type` may be USER_TYPE_UNSPECIFIED.", FIELDS],
      ["| profile", "`profile` is an object of any members.", FIELDS],
      ["| createdAt", "Its three times are in the answer.", FIELDS],
      ["| departmentSources", "The nine lists of sources are in the answer.", FIELDS],
      ["Attribute source:", "A source has its six members.", FIELDS],
    ],
  ],
  [
    "2.5",
    [
      ["| id, appId", "The texts of an entitlement are in the answer.", FIELDS],
      ["| certifyPolicyId", "Its policies and references are in the answer.", FIELDS],
      ["| complianceFramework", "`complianceFrameworkValueIds` is a list of texts.", FIELDS],
      ["| annotations", "`annotations` and `sourceConnectorIds` are objects of any members.", FIELDS],
      ["| defaultValuesApplied", "The booleans are in the answer.", FIELDS],
      ["| durationGrant", "`durationGrant` is a text.", FIELDS],
      [
        "| durationUnset",
        "`durationUnset` is an empty object.",
        [
          "conformance/resources.test.ts",
          "an entitlement without an end says so by an empty object, in the place of a duration",
        ],
      ],
      ["| grantCount", "`grantCount` is a number written as text.", FIELDS],
      ["| matchXId", "`matchXId` is in the answer.", FIELDS, NEUTRAL],
      ["| purpose", "`purpose` may be APP_ENTITLEMENT_PURPOSE_VALUE_UNSPECIFIED.", FIELDS],
      ["| userEditedMask", "`userEditedMask` is a text.", FIELDS],
      ["| createdAt, updatedAt", "Its three times are in the answer.", FIELDS],
      [
        "| provisionerPolicy, deprovisionerPolicy",
        "Both policies are in the answer.",
        ["operations.test.ts", "gets an entitlement owner whole"],
      ],
      ...(
        [
          "action",
          "connector",
          "delegated",
          "devicePlacement",
          "externalTicket",
          "manual",
          "multiStep",
          "unconfigured",
          "webhook",
        ] as const
      ).map((name): Row => [`| ${name} |`, `A policy may be \`${name}\`, with its members.`, POLICY]),
      ...(["appOwners", "entitlementOwners", "expression", "group", "manager", "users"] as const).map(
        (name): Row => [`| ${name} |`, `An assignee may be \`${name}\`, with its members.`, POLICY],
      ),
    ],
  ],
  [
    "2.6",
    [
      [
        "App owner entitlement:",
        "An owner entitlement has its entitlement, app, role and time.",
        ENTITLEMENT_OWNER,
      ],
      ["App user owner", "A user owner has its app, role, user and time.", USER_OWNER],
    ],
  ],
  [
    "2.7",
    [
      ["| id, bridgeId", "Id, bridge and client of a credential are in the answer.", FIELDS],
      ["| id, bridgeId", "`clientSecret` is in the answer.", CREDENTIALS, HIDDEN],
      ["| credentialStatus", "`credentialStatus` is an enumerated text.", CREDENTIALS],
      ["| createdAt", "Its six times are in the answer where they are set.", FIELDS],
    ],
  ],
  ["2.8", [["`coveredCount`", "The list of users with coverage is always empty.", IGNORED]]],
  [
    "2.9",
    [
      ["A listener belongs", "An automation has a listener, whose id is in its path.", MADE],
      ["A listener belongs", "Its method is HMAC with a secret, or JWT with the URL of a key set.", HTTPS],
      ["A listener belongs", "It may have a list of ranges that events may come from.", RANGES],
      ["A listener belongs", "Event ids are remembered for each listener by itself.", ONCE],
    ],
  ],
  [
    "3",
    [
      ["| Auth config | status", "AUTH_CONFIG_STATUS_UNSPECIFIED is a status of auth configs.", SCALARS],
      ["| Tunnel credential", "Active and revoked credentials are in one list.", CREDENTIALS],
      ["| Tunnel credential", "`revokedAt` says that one is revoked.", CREDENTIALS],
      ["| User |", "UNKNOWN is a status and a directory status of users.", FIELDS],
      ["| Paper secret", "-1 is without limit, and stays -1.", FILE],
      [
        "| Paper secret",
        "Otherwise views count down to 0.",
        ["secrets.test.ts", "counts down to 0 and never past it"],
      ],
      ["An inbound webhook event id", "An id that was processed is 409, and nothing runs.", ONCE],
      ["An inbound webhook event id", "Ids are kept for 7 days.", REMEMBERED],
    ],
  ],
  [
    "4",
    [
      ["All endpoints are under", "Every endpoint is under the base address.", CONTRACT],
      ["All endpoints are under", "Every request but a webhook needs the bearer header.", BEARER],
      ["All endpoints are under", "Path parameters are texts that must be there.", PARAMETERS],
      [
        "All endpoints are under",
        "Bodies are `application/json`.",
        ["bad-input.test.ts", "415 for another media type, encoding or character set"],
      ],
    ],
  ],
  [
    "4.1",
    [
      ["- `POST", "A secret is viewed by POST at its path.", CONTRACT],
      ["- Path:", "`vault_id` is in the path.", PARAMETERS],
      [
        "- Body:",
        "`readerRecipient` is a public recipient of age.",
        ["secrets.test.ts", "is 400 for what is no recipient, and uses up no view"],
      ],
      ["- Response 200:", "The answer is secret content.", TEXT],
      ["- Rule: for INTERNAL", "An INTERNAL secret is for the users in its list.", INTERNAL],
      ["- Rule: the returned", "The content is encrypted again to the caller's key.", HYBRID],
    ],
  ],
  [
    "4.2",
    [
      ["- `DELETE", "An auth config is deleted by DELETE at its path.", CONTRACT],
      ["- Path:", "`id` is in the path.", PARAMETERS],
      ["- Body:", "The body is an empty object.", DELETED],
      ["- Response 200:", "The answer is an empty object.", DELETED],
      ["- Effect:", "It is gone afterwards.", DELETED],
    ],
  ],
  [
    "4.3",
    [
      ["- `GET", "An auth config is read by GET at its path.", CONTRACT],
      ["- Path:", "`id` is in the path.", PARAMETERS],
      ["- Response 200:", "The answer has it under `authConfig`.", SCALARS],
    ],
  ],
  [
    "4.4",
    [
      ["- `POST", "A resource type is updated by POST at its path.", CONTRACT],
      ["- Path:", "`app_id` and `id` are in the path.", PARAMETERS],
      ["- Body:", "The body has `appResourceType` and `updateMask`.", MASK],
      ["- Rule:", "Only fields in the mask are changed.", MASK],
      ["- Response 200:", "The answer is the resource type, with `expanded`.", MASK],
    ],
  ],
  [
    "4.5",
    [
      ["- `POST", "A cohort is searched by POST at its path.", CONTRACT],
      ["- Path:", "`suggestion_id` is in the path.", PARAMETERS],
      ["- `pageSize`", "`pageSize` bounds a page.", SIZES],
      ["- `pageToken`", "`pageToken` is that of the page before.", PAGES],
      ["- `profileFilters`", "`profileFilters` narrow the search.", FILTERS],
      ["- `selectedEntitlements`", "`selectedEntitlements` is ignored.", IGNORED],
      ["- Response 200:", "`list` has the users that match.", FILTERS],
      ["- Response 200:", "`nextPageToken` is empty at the end.", PAGES],
      ["- Response 200:", "`usersWithCoverage` is empty.", IGNORED],
    ],
  ],
  [
    "4.6",
    [
      ["- `POST", "Audit events are searched by POST at their path.", CONTRACT],
      ["- Body", "The body has the four filters, a page size and a page token.", AUDIT],
      ["- Purpose:", "They are found by secret, by user id or address, and by IP.", AUDIT],
      [
        "- Response 200:",
        "The answer has `list` and `nextPageToken`.",
        ["secrets.test.ts", "pages through all of them, each once"],
      ],
    ],
  ],
  [
    "4.7",
    [
      ["- `GET", "An entitlement owner is read by GET at its path.", CONTRACT],
      ["- Path:", "Its four parameters are in the path.", PARAMETERS],
      ["- Response 200:", "The answer has it under `appOwnerEntitlement`.", ENTITLEMENT_OWNER],
    ],
  ],
  [
    "4.8",
    [
      ["- `GET", "User owners are found by GET at their path.", CONTRACT],
      ["- Path:", "`app_id` and `user_id` are in the path.", PARAMETERS],
      ["- Query:", "`pageSize` and `pageToken` are in the query.", SPELLINGS],
      ["- Query:", "`roleSlug` filters them.", ["real-clients.test.ts", "%s filters owners"]],
      ["- Response 200:", "The answer has `list` and `nextPageToken`.", PAGES],
    ],
  ],
  [
    "4.9",
    [
      ["- `GET", "Credentials are listed by GET at their path.", CONTRACT],
      ["- Path:", "`bridge_id` is in the path.", PARAMETERS],
      ["- Response 200:", "`list` has every credential, active and revoked.", CREDENTIALS],
      ["- Response 200:", "`nextPageToken` leads on.", PAGES],
    ],
  ],
  [
    "4.10",
    [
      ["- `POST", "An event is sent by POST to the listener's path.", CONTRACT],
      ["- Path:", "The listener's id is made when its trigger is saved.", MADE],
      ["- Headers:", "Its headers are those of 5.2.", MISSING],
      ["- Body:", "The body is any JSON.", ANY_JSON],
      ["- Body:", "It has at most 64 KB, that is 65,536 bytes.", SIZE],
      ["- Body:", "Steps read it as `ctx.trigger`, by a dot and by brackets.", CONTEXT],
      ["- Response:", "200 says that the automation is triggered.", ONCE],
      ["- Processing order:", "The proof comes before the event id, and the run comes last.", ORDER],
      [
        "- The automation runs only",
        "An automation runs if it is published and its trigger is enabled.",
        ["ingestion.test.ts", "%j: 404, and the id is not used up"],
      ],
      ["- Setting up the trigger", "Only a Super Admin makes a trigger.", SUPER_ADMIN],
    ],
  ],
  [
    "5.1",
    [
      ["Every endpoint except 4.10", "Every endpoint but 4.10 asks for a bearer token.", BEARER],
      [
        "The token is obtained",
        "A token is given for client credentials (OAuth 2.0).",
        ["token.test.ts", "gives a standard OAuth client a token for %s"],
      ],
      ["The token is obtained", "Credentials are taken in the body and not in headers.", IN_BODY],
      [
        "The token is obtained",
        "There are no scopes.",
        [
          "real-clients.test.ts",
          "are answered with the scopes that were given, none, if some were asked for",
        ],
      ],
      ["Two schemes", "The OpenAPI document declares both schemes.", DECLARED],
      ["Per-endpoint role", "An INTERNAL secret asks for a place in its list.", INTERNAL],
      ["Per-endpoint role", "A webhook trigger asks for the Super Admin role.", SUPER_ADMIN],
    ],
  ],
  [
    "5.2",
    [
      [
        "Every request must be authenticated",
        "A webhook without a proof of its method is refused.",
        NO_PROOF,
      ],
      ["| Webhook-Timestamp", "The timestamp is Unix time in seconds, at most 5 minutes away.", WINDOW],
      ["| Webhook-Event-Id", "The event id is a UUID v4.", UUID],
      ["| Webhook-Event-Id", "It makes a repeated event do nothing.", ONCE],
      ["| Webhook-Signature", "The signature is HMAC-SHA256 in base64url without padding.", PADDING],
      ["| Authorization", "A token is sent as `Bearer`.", ALGORITHMS],
      [
        "| Content-Type",
        "The content type is `application/json`.",
        ["conformance/webhooks.test.ts", "another content type is refused"],
      ],
      ["The service generates a 256-bit", "The service makes a secret of 256 bit in base64url.", SECRET],
      [
        "The signature input is",
        "What is signed is timestamp, event id and body, joined by periods.",
        SIGNED,
      ],
      ["The HMAC key is", "The key is the text of the secret, and not what it decodes to.", SECRET],
      ["The signature is HMAC-SHA256", "Padding is removed.", PADDING],
      ["Any change of the body", "A body that was changed is refused.", CHANGED],
      ["The caller hosts a JWKS", "The URL of a key set is HTTPS.", HTTPS],
      [
        "The caller hosts a JWKS",
        "Its keys have `kty`, `use`, `kid` and `alg`.",
        ["ingestion.test.ts", "with a JWT is checked against the key set at the URL"],
      ],
      ["Supported algorithms", "RS256, ES256 and EdDSA are taken.", ALGORITHMS],
      ["The service fetches the JWKS", "The key set is fetched, and signature and claims are checked.", KID],
      ["The service fetches the JWKS", "The `kid` of a token must be in the key set.", KID],
      ["| sub |", "`sub` is the base address.", CLAIMS],
      ["| aud |", "`aud` is the URL of the listener.", CLAIMS],
      ["| exp |", "`exp` is in the future, at most 10 minutes ahead.", CLAIMS],
      ["| jti |", "`jti` is the event id.", CLAIMS],
      ["| htm |", "`htm` is POST.", CLAIMS],
      ["| htb_s256", "`htb_s256` is the hash of the body.", CLAIMS],
      ["**IP restriction", "An address outside the ranges is 403.", RANGES],
    ],
  ],
  [
    "6",
    [
      ["Inbound events:", "An event triggers its automation once.", ONCE],
      ["Inbound events:", "Its body is the context of the run.", CONTEXT],
      ["Inbound events:", "The same id again at the same listener is 409.", ONCE],
      [
        "Audit events:",
        "Events of secrets are recorded and found by 4.6.",
        ["secrets.test.ts", "is recorded with the time of the service's clock, who did it, and from where"],
      ],
      ["Audit events:", "A view is one of them.", INTERNAL],
    ],
  ],
  [
    "7",
    [
      ["| 200 |", "200: accepted, and the automation is triggered.", ONCE],
      ["| 400 |", "400: a header is missing.", MISSING],
      ["| 400 |", "400: the timestamp is outside of the 5 minutes.", WINDOW],
      ["| 400 |", "400: the event id is no UUID v4.", UUID],
      ["| 400 |", "400: the body is no JSON.", NO_JSON],
      ["| 401 |", "401: the signature is wrong.", SIGNED],
      ["| 401 |", "401: the key set cannot be reached.", UNREACHABLE],
      ["| 401 |", "401: the `kid` is not found.", KID],
      ["| 401 |", "401: a claim is missing or wrong, or the token has expired.", CLAIMS],
      ["| 401 |", "401: the header of the proof is missing.", NO_PROOF],
      ["| 403 |", "403: the address is outside of the ranges.", RANGES],
      ["| 409 |", "409: the event was processed before.", ONCE],
      ["Other endpoints return", "Other endpoints answer success with 200.", ENVELOPE],
    ],
  ],
  [
    "8",
    [
      ["| page_size range", "Pages have 10 to 100 entries.", SIZES],
      ["| page_size below", "Less than 10 counts as 10.", SIZES],
      ["| page_size above", "More than 100 counts as 100.", SIZES],
      ["| page_size default", "25 is the default.", SIZES],
      ["| Webhook body size", "A webhook's body has at most 64 KB; a larger one is 413.", SIZE],
      ["| Webhook timestamp", "A timestamp may be 5 minutes away, in both directions.", WINDOW],
      ["| JWT expiry", "`exp` may be 10 minutes ahead.", AHEAD],
      ["| JWT expiry", "More is refused.", CLAIMS],
      ["| Event id retention", "Event ids are kept for 7 days.", REMEMBERED],
      ["| Download URL", "Download URLs are good for 5 minutes.", DOWNLOAD],
      ["`page_size` is sent", "The size is in the query of a GET and in the body of a POST.", SIZES],
      [
        "`page_token` is sent",
        "The token is in the same place; on the first request it may be empty.",
        PAGES,
      ],
      ["When more results exist", "A page before the last has a token, which leads to the next.", PAGES],
      ["An empty `nextPageToken`", "The last page has an empty token.", PAGES],
      [
        "Body and response field",
        "The names are `pageSize`, `pageToken`, `nextPageToken` and `list`.",
        PAGES,
      ],
    ],
  ],
  [
    "9",
    [
      ["The API declares", "The version is 0.1.0-alpha.", DECLARED],
      ["The version is part", "Paths begin with `/api/v1/`, those of 4.7 and 4.8 with `/api/v2/`.", CONTRACT],
      ["Deprecated:", "`selectedEntitlements` and `usersWithCoverage` are marked as deprecated.", DEPRECATED],
      ["Deprecated:", "Auth configs have a deadline and a message of deprecation.", FIELDS],
    ],
  ],
];

/** Every statement of the document about the service, by its section. */
export const STATEMENTS: ReadonlyMap<string, readonly Statement[]> = new Map(
  ROWS.map(([section, rows]) => [
    section,
    rows.map(([line, says, shown, differs]) => ({ line, says, shown, ...(differs ? { differs } : {}) })),
  ]),
);
