/**
 * What is mutated, room by room, and the tests that have to notice: the room's own and the vectors it is pinned by.
 * A mutant of what runs while a test file is loaded costs a run of all of them, so the sets are small and fast.
 * `service`: its tests need the local service; `database`: they need PostgreSQL.
 */
export const rooms = {
  hmac: {
    mutate: ["src/hmac/*.ts"],
    tests: ["test/hmac/*.test.ts", "test/vectors/*-hmac.test.ts"],
  },
  sender: {
    mutate: ["src/sender/classify.ts"],
    tests: ["test/sender/classify.test.ts", "test/vectors/retry.test.ts"],
  },
  http: {
    mutate: ["src/http/*.ts"],
    tests: ["test/http/*.test.ts", "test/sender/unknown-outcome.test.ts"],
  },
  protocol: {
    mutate: ["src/protocol/*.ts"],
    tests: ["test/protocol/*.test.ts", "test/vectors/grammar.test.ts", "test/receiver/pipeline.test.ts"],
  },
  receiver: {
    mutate: ["src/receiver/*.ts", "!src/receiver/lambda-handler.ts"],
    tests: ["test/receiver/*.test.ts", "test/vectors/protocol-*.test.ts"],
  },
  sqlite: {
    mutate: [
      "src/node/sqlite-outbox-*.ts",
      "src/node/sqlite-{store,database,group-commit}.ts",
      "src/node/open-sqlite.ts",
    ],
    tests: ["test/outbox/{sqlite-store,sqlite-connections,open-sqlite,boundaries}.test.ts"],
  },
  outbox: {
    // Without the PostgreSQL engine. The slow tests of fairness are left out; concurrency has its limits.
    mutate: ["src/outbox/*.ts"],
    tests: [
      "test/outbox/{abort-all,body-encryption,breaker,clocks,completions,concurrency,dead-letters,deliver}.test.ts",
      "test/outbox/{enqueue,listener-limits,lost-store,memory-store,observe,order,outbox,rate}.test.ts",
      "test/outbox/{stop,store-watch,upkeep,window}.test.ts",
    ],
  },
  postgres: {
    mutate: ["src/outbox/postgres/*.ts"],
    // Those that race or restart a server are left out: they take half a minute each.
    tests: ["test/outbox/postgres-{contract,store,faults,rights,enqueue-function}.test.ts"],
    database: true,
  },
  jwt: {
    mutate: ["src/jwt/*.ts"],
    tests: ["test/jwt/*.test.ts", "test/vectors/protocol-jwt.test.ts", "test/properties/es256-der.test.ts"],
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
    tests: ["test/service/{bad-input,document,log-lines,operations,paging,pipelining}.test.ts"],
    service: true,
  },
  jwks: {
    mutate: ["src/jwks/*.ts"],
    tests: ["test/jwks/{rules,fixed-keys,generate,host,key-set,remote-keys,rotation}.test.ts"],
    service: true,
  },
};

/** The room this process was started for. */
export const room = rooms[process.env.MUTATION_ROOM];
