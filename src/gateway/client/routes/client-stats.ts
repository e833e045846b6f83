/** What a client has counted since it was made. */
export interface ClientCounters {
  /** Times that a gateway let it in. */
  connections: number;
  /** Connections that were lost, or never came about. */
  failedConnections: number;
  framesReceived: number;
  framesSent: number;
  /** No JSON, no frame, or the payload of an `agent` or `chat` event that is none. */
  malformedFrames: number;
  /** Longer than `maxFrameBytes` or `maxPayloadBytes`. */
  oversizedFrames: number;
  binaryFrames: number;
  /** Frames of a type that clients do not get, and answers that nobody waits for. */
  unknownFrames: number;
  /** Events that were dropped since their run was further already. */
  seqRegressions: number;
  /** Holes in the numbers of a run's events. The next snapshot heals them. */
  seqGaps: number;
  /** The gateway's own notes that it has missed events. */
  gapReports: number;
  /** Events of runs that nobody had registered. */
  unroutedEvents: number;
  /** Of those, the ones that were kept for a run that was about to be registered, and then dropped. */
  earlyEventsDropped: number;
  /** Callbacks and listeners that threw. */
  listenerErrors: number;
}

/** What a client has counted, and what it holds now. */
export interface ClientStats extends Readonly<ClientCounters> {
  readonly agentRuns: number;
  readonly chatRuns: number;
  readonly claimedRuns: number;
  readonly earlyEvents: number;
  readonly pendingRequests: number;
  readonly listeners: number;
}

/** Counters at nought. */
export function newCounters(): ClientCounters {
  return {
    connections: 0,
    failedConnections: 0,
    framesReceived: 0,
    framesSent: 0,
    malformedFrames: 0,
    oversizedFrames: 0,
    binaryFrames: 0,
    unknownFrames: 0,
    seqRegressions: 0,
    seqGaps: 0,
    gapReports: 0,
    unroutedEvents: 0,
    earlyEventsDropped: 0,
    listenerErrors: 0,
  };
}
