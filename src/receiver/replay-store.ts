/** A reservation that its holder commits or releases. */
export interface Reservation {
  readonly listenerId: string;
  readonly eventId: string;
  /** Tells this reservation from one that took over after it expired. */
  readonly token: string;
}

/** What became of asking for an id: ours to process, processed before, or in somebody else's hands just now. */
export type ReserveResult =
  | { readonly state: "reserved"; readonly reservation: Reservation }
  | { readonly state: "processed" }
  | { readonly state: "in-flight" };

/** How long a reservation holds unless a store is told otherwise. A run must be done within this time. */
export const RESERVATION_MS = 60_000;

/**
 * Remembers processed event ids for 7 days, per listener (specification 8). An id is *processed* once its
 * event has been accepted for good; until then it is reserved, and a reservation whose holder died expires.
 * Any method may reject: the receiver then answers 503, and the id is not used up.
 *
 * `replayStoreContract` of `hookproof/testing` holds a store of your own against these rules.
 */
export interface ReplayStore {
  /** Reserves an id (in lower case) unless it is processed or reserved; of many at once exactly one succeeds. */
  reserve(listenerId: string, eventId: string): Promise<ReserveResult>;
  /**
   * The event is accepted: the id is processed from now on. The holder may commit twice. A reservation that
   * expired can be committed as long as nobody else holds the id or has processed it; after that, `commit`
   * rejects with RESERVATION_LOST and changes nothing.
   */
  commit(reservation: Reservation): Promise<void>;
  /** The event was not accepted: the id may come again. A reservation that is no longer held changes nothing. */
  release(reservation: Reservation): Promise<void>;
}
