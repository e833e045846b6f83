/** The invariants of a stream of session events (seeds 000 and 001). */
export type OrderingRule =
  | 'agent-start-first'
  | 'agent-start-once'
  | 'agent-end-last'
  | 'agent-end-missing'
  | 'message-nested'
  | 'message-not-open'
  | 'message-not-ended'
  | 'update-outside-message'
  | 'block-started-twice'
  | 'block-not-open'
  | 'block-not-ended'
  | 'block-content'
  | 'tool-started-twice'
  | 'tool-not-running'
  | 'tool-not-ended'
  | 'compaction-nested'
  | 'compaction-not-open'
  | 'compaction-not-ended';

/** One event that breaks the order, or something that is missing at the end. */
export interface OrderingViolation {
  /** Which event, from 0; the number of events where something is missing at the end. */
  readonly index: number;
  readonly rule: OrderingRule;
  /** The fault, in words for people. */
  readonly message: string;
}
