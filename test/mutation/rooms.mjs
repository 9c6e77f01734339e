// @ts-check
/** @typedef {{ mutate: string[], tests: string[], slow?: string[], service?: boolean, cli?: boolean, database?: boolean }} Room */

/**
 * What is mutated, room by room, and the tests that have to notice: the room's own and the vectors it is pinned by.
 * A mutant of what runs while a test file is loaded costs a run of all of them, so the sets are small and fast.
 * `slow`: files that come last; `service`, `cli`: its tests need the local service, the command
 * line; `database`: they need PostgreSQL.
 */
export const rooms = /** @type {Record<string, Room>} */ ({
  hmac: {
    mutate: ["src/schemes/access-governance/{hmac,secret}.ts"],
    tests: ["test/schemes/access-governance/{hmac,secret}*.test.ts", "test/vectors/*-hmac.test.ts"],
  },
  sender: {
    mutate: [
      "src/schemes/classification.ts",
      "src/schemes/access-governance/answers.ts",
      "src/sender/clock-offset.ts",
    ],
    tests: ["test/sender/{classify,corrections}.test.ts", "test/vectors/retry.test.ts"],
  },
  http: {
    mutate: ["src/http/**/*.ts"],
    tests: ["test/http/*.test.ts", "test/sender/unknown-outcome.test.ts"],
  },
  core: {
    mutate: ["src/core/*.ts"],
    tests: ["test/core/*.test.ts", "test/vectors/grammar.test.ts", "test/receiver/pipeline.test.ts"],
  },
  receiver: {
    mutate: ["src/receiver/*.ts", "!src/receiver/lambda-handler.ts"],
    tests: ["test/receiver/*.test.ts", "test/vectors/protocol-*.test.ts"],
  },
  sqlite: {
    mutate: ["src/outbox/sqlite/*.ts", "src/sqlite/*.ts"],
    tests: ["test/outbox/sqlite/{store,connections,open-sqlite}.test.ts", "test/outbox/boundaries.test.ts"],
  },
  outbox: {
    // Without the PostgreSQL engine. The slow tests of fairness are left out; concurrency has its limits.
    mutate: ["src/outbox/*.ts", "src/outbox/memory/*.ts"],
    tests: [
      "test/outbox/{body-encryption,breaker,clocks,concurrency,control,dead-letters,deliver}.test.ts",
      "test/outbox/{enqueue,fan-out,limits,lost-store,observe,order,outbox,rate}.test.ts",
      "test/outbox/{stop,store-calls,upkeep,window}.test.ts",
      "test/outbox/memory/store.test.ts",
    ],
    slow: ["lost-store", "deliver", "clocks", "upkeep"],
  },
  postgres: {
    mutate: ["src/outbox/postgres/*.ts"],
    // Those that race or restart a server are left out: they take half a minute each.
    tests: ["test/outbox/postgres/{contract,control,store,faults,rights,enqueue-function}.test.ts"],
    database: true,
  },
  jwt: {
    mutate: ["src/jwt/*.ts"],
    tests: ["test/jwt/*.test.ts", "test/vectors/protocol-jwt.test.ts", "test/jwt/es256-der.test.ts"],
  },
  "service-auth": {
    mutate: ["service/src/auth/*.ts"],
    tests: ["test/service/{access,access-tokens,client-secrets,token,token-attempts}.test.ts"],
    service: true,
  },
  "service-secrets": {
    mutate: ["service/src/secrets/*.ts"],
    tests: ["test/service/{age,secrets}.test.ts"],
    service: true,
  },
  "service-api": {
    mutate: ["service/src/api/*.ts", "!service/src/api/openapi.ts"],
    tests: [
      "test/service/{access,answers,bad-input,contract,discovery,example-routes,log-lines}.test.ts",
      "test/service/{faults,operations,paging,pipelining,real-clients,reference,remote-control}.test.ts",
      "test/service/{request-forms,wrong-types}.test.ts",
    ],
    slow: ["real-clients", "paging", "faults", "remote-control", "wrong-types"],
    service: true,
  },
  schemes: {
    mutate: ["src/schemes/**/*.ts"],
    tests: [
      "test/schemes/{confusion,contract,foreign-answers,http-signature,meanings,one-reading}.test.ts",
      "test/schemes/{own-event-ids,published,replay,rfc-8935,rfc-9421,seam,security-event-token}.test.ts",
      "test/schemes/{signature-fields,standard-webhooks}.test.ts",
      "test/schemes/access-governance/*.test.ts",
      "test/doctor/schemes/{by-name,http-signature-mistakes,key-signatures,set-mistakes}.test.ts",
      "test/doctor/schemes/standard-webhooks-mistakes.test.ts",
      "test/receiver/{answers,check-detail,facts,hostile-headers,hostile-signatures,pipeline}.test.ts",
      "test/sender/{answers-as-written,classify,corrections}.test.ts",
      "test/vectors/{grammar,protocol-*,retry}.test.ts",
    ],
    slow: ["answers-as-written", "by-name"],
    service: true,
  },
  events: {
    mutate: ["src/events/*.ts"],
    tests: ["test/events/*.test.ts"],
  },
  alerts: { mutate: ["src/alerts/*.ts"], tests: ["test/alerts/*.test.ts"] },
  observe: { mutate: ["src/observe/*.ts"], tests: ["test/observe/*.test.ts"] },
  "key-store": {
    mutate: ["src/key-store/*.ts"],
    tests: [
      "test/key-store/{file-format,key-store,lock,material,passphrase,publish-key-set,uploads}.test.ts",
      "test/jwks/rotation.test.ts",
    ],
    // scrypt takes a third of a second for each test, and uploads start programs.
    slow: ["passphrase", "uploads"],
  },
  diagnose: {
    mutate: ["src/doctor/{codes,compare,diagnose,rows,texts}/**/*.ts"],
    tests: [
      "test/doctor/diagnose/{apart,compare*,describe-code,diagnose,headers,key-sets,known-mistakes}.test.ts",
      "test/doctor/diagnose/{not-tried,rare-*,search,spellings,time-zone,token-mistakes}.test.ts",
      "test/doctor/diagnose/unexplained.test.ts",
      "test/doctor/languages.test.ts",
      "test/doctor/gathered/requests*.test.ts",
    ],
    slow: ["search", "unexplained"],
  },
  probes: {
    mutate: ["src/doctor/probes/**/*.ts"],
    tests: [
      "test/doctor/probes/{answers-*,behaviour,in-front,joint-verdict,keys-of-their-own}.test.ts",
      "test/doctor/probes/{own-listener,run-probes,too-old,verdict,wrong-requests}.test.ts",
    ],
    slow: ["own-listener", "verdict"],
    service: true,
    cli: true,
  },
  "command-line": {
    // What reads strangers' texts and writes to people; commands as a whole are looked at by transcripts of processes.
    mutate: ["cli/src/{capture,config,credentials,files,input,reporters,terminal}/*.ts"],
    tests: [
      "cli/test/{body-forms,capture-*,captures,counts,exact-json,foreign-answers,given-texts,help}.test.ts",
      "cli/test/{inspect-token,key-forms,layout,listen-forward,local-authority,named-options}.test.ts",
      "cli/test/{odd-files,other-forms,plain-http,proof,reference,reporters,request-age,settings-order,small-rooms}.test.ts",
      "cli/test/{target-rules,test-interrupted,test-unanswered,typed-target,vectors,verify-known,write-secret,written-files}.test.ts",
    ],
    slow: ["key-forms", "odd-files"],
    service: true,
    cli: true,
  },
  inspector: {
    // What the pages compute; how they look and work is looked at in a browser, with the hooks and what reads its address.
    mutate: [
      "service/inspector/{copy,list,live,text,time-line}/*.ts",
      "!service/inspector/list/use-*.ts",
      "!service/inspector/live/page-token.ts",
    ],
    tests: [
      "test/inspector/page-{calls,copies,lines,list,live,prospects,stream,texts}.test.ts",
      "test/inspector/schemes.test.ts",
    ],
    slow: ["page-copies"],
    service: true,
  },
  jwks: {
    mutate: ["src/jwks/*.ts"],
    tests: [
      "test/jwks/{rules,check-key-set,generate,host,key-set,life-cycle,local-keys,remote-keys,rotation}.test.ts",
    ],
    service: true,
  },
});

/** The room this process was started for. */
export const room = /** @type {Room} */ (rooms[process.env.MUTATION_ROOM ?? ""]);
