/*
 * Delivery of two events of one ordering key by two workers to one receiver, with a crash, a lost request or answer, a
 * lease that runs out, a pause and a dead letter that blocks the key at any step. Checked whole by spin:
 * test/model/model.test.ts, docs/proof.md.
 *
 * Each transition names the function that implements it.
 */

#ifndef FAULTS
#define FAULTS 4
#endif

/* An event in the store. */
#define PENDING 0
#define DELIVERED 1
#define DEAD 2

/* What a worker is doing about an event. */
#define IDLE 0
#define CLAIMED 1
#define SENT 2
#define ACCEPTED 3
#define UNKNOWN 4
#define REFUSED 5

/* A request of an attempt. */
#define NOWHERE 0
#define GOING 1
#define INSIDE 2

/* What the receiver remembers of an id. */
#define FREE 0
#define RESERVED 1
#define COMMITTED 2

byte faults = FAULTS;
byte state[2];    /* of each event */
byte owner[2];    /* 1 + the worker of its last lease; 0: none */
bool live[2];     /* whether that lease still lasts */
byte phase[4];    /* of each worker (w) and event (e), at 2 * w + e */
byte wire[4];
byte answer[4];   /* NOWHERE, or ACCEPTED, UNKNOWN, REFUSED on its way back */
bool late[2];     /* a copy is in the network that no worker waits for */
byte memory[2];
byte holder[2];   /* 1 + the place of the request that reserved the id; 0: a late copy */
byte runs[2];
bool parked = true; /* the second event stands behind the first one of its key */
bool blocks;      /* the first event is a dead letter that holds up its key */
bool paused;      /* the listener, by a person */
bool aside[2];    /* a look has put the event aside, as its listener was paused */
bool marked;      /* the listener may have events aside */
bool right[4];    /* whose lease lasts, whatever the store says: each that was given and has not run out or been used */

#define STEP(name, may) (may)
#define FAULT (faults > 0)
#define USED faults--

/* Nobody is left who could answer. */
#define UNANSWERED(i, e) (answer[i] == NOWHERE && (wire[i] == NOWHERE || (wire[i] == INSIDE && holder[e] != i + 1)))
#define HOLDS(w, e) (state[e] == PENDING && owner[e] == w + 1)
#define ENDS(i) (phase[i] == CLAIMED || phase[i] == UNKNOWN)
#define MAY_GO(e) (!live[1 - e] && (e == 0 || !parked))

/* passOn: src/outbox/postgres/order.ts, src/outbox/sqlite: the next event of a key may go when its head has ended. */
inline ended(e) {
  aside[e] = false;
  if
  :: e == 0 && !blocks -> parked = false
  :: else
  fi
}

/* onDead is "block" or not. */
inline buried(e) {
  state[e] = DEAD;
  if
  :: e == 0 -> blocks = true
  :: true
  fi
}

inline freed(e) { live[e] = false; owner[e] = 0; right[i] = false }

/* What is left of a request when its worker no longer waits. */
inline left(i, e) {
  if
  :: wire[i] == GOING -> late[e] = true
  :: else
  fi;
  wire[i] = NOWHERE;
  answer[i] = NOWHERE
}

proctype Worker(byte w; byte e) {
  byte i = 2 * w + e;
end:
  do
  /* claim: src/outbox/memory/store.ts, claiming() of src/outbox/sqlite/leases.ts */
  :: atomic { STEP(CLAIM, phase[i] == IDLE && state[e] == PENDING && !live[e] && !paused && !aside[e] && MAY_GO(e)) ->
       assert(!right[2 * (1 - w) + e]);
       owner[e] = w + 1; live[e] = true; right[i] = true; phase[i] = CLAIMED }
  /* EventAttempt.run: src/outbox/event-attempt.ts; only while the lease lasts */
  :: atomic { STEP(SEND, phase[i] == CLAIMED && HOLDS(w, e) && live[e]) ->
       wire[i] = GOING; phase[i] = SENT }
  /* EventAttempt.#release: src/outbox/event-attempt.ts; release of the stores: the claim took too long, which is a fault */
  :: atomic { STEP(RELEASE, phase[i] == CLAIMED && HOLDS(w, e) && (!live[e] || FAULT)) ->
       if
       :: live[e] -> USED
       :: else
       fi;
       freed(e); phase[i] = IDLE }
  :: atomic { STEP(RELEASE_LATE, phase[i] == CLAIMED && !HOLDS(w, e)) -> phase[i] = IDLE }
  /* the answer of a claim got lost: StoreCalls.once, src/outbox/store-calls.ts */
  :: atomic { phase[i] == CLAIMED && FAULT -> USED; phase[i] = IDLE }
  /* signAndSend and classify: src/sender */
  :: atomic { STEP(TOLD_ACCEPTED, phase[i] == SENT && answer[i] == ACCEPTED) ->
       answer[i] = NOWHERE; phase[i] = ACCEPTED }
  :: atomic { STEP(TOLD_UNKNOWN, phase[i] == SENT && (answer[i] == UNKNOWN || UNANSWERED(i, e) || FAULT)) ->
       if
       :: answer[i] == UNKNOWN || UNANSWERED(i, e)
       :: else -> USED
       fi;
       left(i, e); phase[i] = UNKNOWN }
  :: atomic { STEP(TOLD_REFUSED, phase[i] == SENT && answer[i] == REFUSED) ->
       answer[i] = NOWHERE; phase[i] = REFUSED }
  /* DeliveryBuffer.flush: src/outbox/store-calls.ts; markDelivered of the stores */
  :: atomic { STEP(COMPLETE, phase[i] == ACCEPTED && HOLDS(w, e)) ->
       assert(runs[e] == 1); state[e] = DELIVERED; freed(e); ended(e); phase[i] = IDLE }
  :: atomic { STEP(COMPLETE_LATE, phase[i] == ACCEPTED && !HOLDS(w, e)) -> phase[i] = IDLE }
  /* EventAttempt.#reschedule: src/outbox/event-attempt.ts; reschedule of the stores */
  :: atomic { STEP(RESCHEDULE, phase[i] == UNKNOWN && HOLDS(w, e)) -> freed(e); phase[i] = IDLE }
  :: atomic { STEP(RESCHEDULE_LATE, phase[i] == UNKNOWN && !HOLDS(w, e)) -> phase[i] = IDLE }
  /* EventAttempt.#fail: src/outbox/event-attempt.ts; fail of the stores. Its window may end before or after an attempt */
  :: atomic { STEP(FAIL, (phase[i] == REFUSED || (ENDS(i) && FAULT)) && HOLDS(w, e)) ->
       if
       :: phase[i] != REFUSED -> USED
       :: else
       fi;
       buried(e); freed(e); ended(e); phase[i] = IDLE }
  :: atomic { STEP(FAIL_LATE, (phase[i] == REFUSED || (phase[i] == UNKNOWN && FAULT)) && !HOLDS(w, e)) ->
       if
       :: phase[i] != REFUSED -> USED
       :: else
       fi;
       phase[i] = IDLE }
  /* the store cannot be reached until the lease is over: StoreCalls.untilDone, src/outbox/store-calls.ts */
  :: atomic { phase[i] >= ACCEPTED && !live[e] && FAULT -> USED; phase[i] = IDLE }
  od
}

/* A worker dies and comes back without its memory. */
proctype Crashes(byte w) {
end:
  do
  :: atomic { STEP(CRASH, FAULT) ->
       USED;
       left(2 * w, 0); left(2 * w + 1, 1);
       phase[2 * w] = IDLE; phase[2 * w + 1] = IDLE }
  od
}

/* What time does to the leases: that of a worker who does nothing more about the event ends in any case. */
proctype Time(byte e) {
end:
  do
  :: atomic { live[e] && phase[2 * (owner[e] - 1) + e] == IDLE ->
       live[e] = false; right[e] = false; right[2 + e] = false }
  :: atomic { live[e] && phase[2 * (owner[e] - 1) + e] != IDLE && FAULT ->
       USED; live[e] = false; right[e] = false; right[2 + e] = false }
  /* expire of the stores, Upkeep.#expire: src/outbox/upkeep.ts */
  :: atomic { STEP(EXPIRE, state[e] == PENDING && !live[e] && MAY_GO(e) && FAULT) ->
       USED; buried(e); ended(e); owner[e] = 0 }
  od
}

/* What a look does about a paused listener's events, and what brings them back: src/outbox/postgres/due.ts and prune. */
proctype Aside(byte e) {
end:
  do
  :: atomic { paused && state[e] == PENDING && !live[e] && !aside[e] && MAY_GO(e) -> aside[e] = true; marked = true }
  :: atomic { marked && !paused -> aside[0] = false; aside[1] = false; marked = false }
  od
}

/* Nobody has to end a pause, nor to drop a dead letter: drop() of the stores. */
proctype Person() {
end:
  do
  :: faults <= FAULTS /* nothing */
  :: atomic { !paused && FAULT -> USED; paused = true }
  :: atomic { paused -> paused = false }
  :: atomic { blocks -> blocks = false; ended(0) }
  od
}

/* The listener takes a request in: reserve of the replay stores, src/replay; accept(), src/receiver/accept.ts */
proctype Arrival(byte i; byte e) {
end:
  do
  :: atomic { wire[i] == GOING && memory[e] == COMMITTED -> answer[i] = ACCEPTED; wire[i] = NOWHERE } /* 409 */
  :: atomic { wire[i] == GOING && memory[e] == RESERVED -> answer[i] = UNKNOWN; wire[i] = NOWHERE } /* 503 */
  :: atomic { wire[i] == GOING && memory[e] == FREE -> memory[e] = RESERVED; holder[e] = i + 1; wire[i] = INSIDE }
  :: atomic { wire[i] == GOING && FAULT -> USED; answer[i] = UNKNOWN; wire[i] = NOWHERE } /* 5xx, 401 */
  :: atomic { wire[i] == GOING && FAULT && memory[e] == FREE -> USED; answer[i] = REFUSED; wire[i] = NOWHERE }
  od
}

proctype LateArrival(byte e) {
end:
  do
  :: atomic { late[e] && memory[e] == FREE -> memory[e] = RESERVED; holder[e] = 0; late[e] = false }
  :: atomic { late[e] -> late[e] = false } /* lost, or a copy of what is known */
  od
}

inline reply(e, what) {
  if
  :: holder[e] > 0 && wire[holder[e] - 1] == INSIDE -> answer[holder[e] - 1] = what; wire[holder[e] - 1] = NOWHERE
  :: else
  fi
}

/* The automation durably accepts the event: commit and release of the replay stores, run of handle(). */
proctype Automation(byte e) {
end:
  do
  :: atomic { STEP(RUN, memory[e] == RESERVED) ->
       runs[e]++;
       assert(runs[e] == 1);
       assert(e == 0 || runs[0] == 1 || (state[0] == DEAD && !blocks));
       memory[e] = COMMITTED;
       if
       :: reply(e, ACCEPTED)
       :: FAULT -> USED; reply(e, UNKNOWN) /* a 5xx after the run */
       fi }
  :: atomic { memory[e] == RESERVED && FAULT -> USED; memory[e] = FREE; reply(e, UNKNOWN) } /* the run throws */
  /* the process dies, and its reservation expires */
  :: atomic { memory[e] == RESERVED && FAULT -> USED; memory[e] = FREE; holder[e] = 0 }
  od
}

init {
  atomic {
    run Worker(0, 0); run Worker(0, 1); run Worker(1, 0); run Worker(1, 1);
    run Crashes(0); run Crashes(1);
    run Time(0); run Time(1);
    run Aside(0); run Aside(1); run Person();
    run Arrival(0, 0); run Arrival(1, 1); run Arrival(2, 0); run Arrival(3, 1);
    run LateArrival(0); run LateArrival(1);
    run Automation(0); run Automation(1)
  }
}

/* Of what follows the processes are weakly fair: what can always be done is done. A person is none of them. */
#define ENDED(e) (state[e] != PENDING)
#define RESUMED (<> [] !paused)
#define DROPPED (<> [] !blocks)
/* A worker has it, and lives. */
#define WORKED(e) (live[e] && phase[2 * (owner[e] - 1) + e] != IDLE)
/* Its worker has died, or does not know of its lease. */
#define ALONE(e) (!ENDED(e) && live[e] && phase[2 * (owner[e] - 1) + e] == IDLE)
#define TAKEN(e) (WORKED(e) || state[e] == DEAD)
/* Where there is but one fault, and it is the pause or the worker's death, the event is delivered. */
#if FAULTS == 1
#define ARRIVED(e) (state[e] == DELIVERED)
#else
#define ARRIVED(e) ENDED(e)
#endif

/* Once the faults are used up, both events end. */
ltl progress { (RESUMED && DROPPED) -> <> (ENDED(0) && ENDED(1)) }

/* An event whose worker has died is claimed again, and ends. */
ltl lease { RESUMED -> [] ((ALONE(0) -> (<> TAKEN(0) && <> ARRIVED(0))) && (ALONE(1) -> (<> TAKEN(1) && <> ARRIVED(1)))) }

/* What waits while its listener is paused is delivered when that ends. */
ltl pause { (RESUMED && DROPPED) -> [] (paused -> ((ENDED(0) || <> ARRIVED(0)) && (ENDED(1) || <> ARRIVED(1)))) }

/* When the first event of a key has ended, and holds it up no more, the next one is claimed, and ends. */
ltl key { RESUMED -> [] ((ENDED(0) && !blocks && !ENDED(1) && owner[1] == 0) -> (<> TAKEN(1) && <> ENDED(1))) }
