// @ts-check
// The questions that docs/performance.md answers, their goals, and the bench that answers each.
export const ROWS = [
  {
    question: "HMAC sign and verify, 100 B, 1 KB, 64 KB",
    toReach: "0.9 of bare createHmac; 5 times standardwebhooks and svix at 1 KB; ahead of stripe and octokit",
    parts: [{ bench: "hmac" }],
  },
  {
    question: "JWT sign and verify, three algorithms",
    toReach: "0.95 of bare jose with the same claims; verifying with a warm key set 0.9",
    parts: [{ bench: "jwt" }],
  },
  {
    question: "Other schemes: sign and verify, 1 KB",
    toReach:
      "0.9 of the bare primitives or bare jose, and of verifying by hand as specified; 4 times standardwebhooks and svix",
    parts: [{ bench: "schemes" }],
  },
  {
    question: "Sign and send, 1 KB, 50 at once, loopback",
    toReach: "0.8 of the bare transport in use; 5 times fetch + svix, got + standardwebhooks, axios + stripe",
    parts: [{ bench: "send" }],
  },
  {
    question: "Receive and verify, durable ids",
    toReach: "0.5 of bare node:http; 0.85 of bare express",
    parts: [{ bench: "receive" }],
  },
  {
    question: "Key set host",
    toReach: "0.8 of bare node:http with a fixed body",
    parts: [{ bench: "jwks" }],
  },
  {
    question: "Enqueue and deliver through each queue",
    toReach:
      "0.7 of the bare engine; in SQLite 0.8 by the hundred and 0.85 delivered, in PostgreSQL 1.2 delivered; no slower as the backlog grows from 10^3 to 10^6",
    parts: [{ bench: "outbox", only: /^(?!Is it flat\? The median)/ }],
  },
  {
    question: "What an event through the outbox costs PostgreSQL, enqueued by the hundred",
    toReach: "200 µs of processor time, enqueued and delivered",
    parts: [{ bench: "capacity" }],
  },
  {
    question: "From enqueue to the receiver under load, 99 of 100 events",
    toReach: "25 ms at half of the most the outbox can do, 100 ms at four fifths, on each engine",
    parts: [{ bench: "latency" }],
  },
  {
    question: "An event through an outbox of many listeners or tenants",
    toReach:
      "among 10,000 listeners 1.2 times what it costs among 10, on each engine; of a backlog of many tenants, 1 % due, 1.2 times one of one tenant",
    parts: [{ bench: "growth" }],
  },
  {
    question: "Many workers on one PostgreSQL, with a listener's limits",
    toReach: "2, 4 and 8 processes: 1.15 times what one costs; shares within 10 %",
    parts: [{ bench: "workers" }],
  },
  {
    question: "Taking what is due while a transaction holds its snapshot",
    toReach: "three times what it takes without, however much is delivered meanwhile",
    parts: [{ bench: "horizon" }],
  },
  {
    question: "From enqueue to a healthy listener next to other people's trouble, 99 of 100 events",
    toReach: "twice what it takes without, on each engine",
    parts: [{ bench: "neighbours" }],
  },
  {
    question: "Three machines and a listener, the database's failing in the middle",
    toReach: "no acknowledged event lost, none run twice",
    parts: [{ bench: "hosts" }],
  },
  {
    question: "Reading the service, and paging through it",
    toReach: "0.6 of bare express with the same query; the last page within 1.5 times the first",
    parts: [{ bench: "service" }],
  },
  {
    question: "Start: commands, demo, createService(), the library's first signature",
    toReach: "40 ms, 2 s, 300 ms above node -e 0; 15 ms by HMAC and 40 with a token above an empty module",
    parts: [{ bench: "start" }],
  },
  {
    question: "Memory: 10^5 events through send, 10^6 through the outbox",
    toReach: "flat",
    parts: [{ bench: "memory" }, { bench: "outbox", only: /^Is it flat\? The median/ }],
  },
  {
    question: "Install: the library",
    toReach: "three packages; HMAC alone under 4 KiB gzip",
    parts: [{ bench: "install" }],
  },
  {
    question: "Diagnosing what nothing explains",
    toReach: "10 ms of processor for 1 KB, 100 ms for 64 KB",
    parts: [{ bench: "diagnose" }],
  },
];
