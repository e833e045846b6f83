/** The counters of a client that was just made. */
export const noCounts = {
  /** How often a gateway has let the client in. */
  connections: 0,
  /** Connections that were lost, or never came about. */
  failedConnections: 0,
  framesReceived: 0,
  framesSent: 0,
  /** Texts that are no JSON or no frame, and `agent` and `chat` events with a wrong payload. */
  malformedFrames: 0,
  /** Frames longer than `maxFrameBytes` or `maxPayloadBytes`. */
  oversizedFrames: 0,
  binaryFrames: 0,
  /** Frames of a type that clients do not get, and answers that nobody waits for. */
  unknownFrames: 0,
  /** Events that were dropped because their run was further already. */
  seqRegressions: 0,
  /** Holes in the numbers of a run's events, in protocol 3. The next snapshot heals them. */
  seqGaps: 0,
  /** The gateway's own notes that it has missed events. */
  gapReports: 0,
  /** Events of runs that nobody had registered. */
  unroutedEvents: 0,
  /** Unrouted events that were kept for a run about to be registered, and then dropped. */
  earlyEventsDropped: 0,
  /** Callbacks and listeners that threw. */
  listenerErrors: 0,
};

/** The counts of a client since it was made. */
export type ClientCounters = typeof noCounts;

/** The counts of a client, and the sizes of what it holds now. */
export interface ClientStats extends Readonly<ClientCounters> {
  readonly agentRuns: number;
  readonly chatRuns: number;
  readonly claimedRuns: number;
  readonly earlyEvents: number;
  readonly pendingRequests: number;
  readonly listeners: number;
}
