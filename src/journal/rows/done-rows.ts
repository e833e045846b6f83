/** Rows of a table that are done with. */
export interface DoneRows {
  readonly name: string;
  /** The columns of the time when a row was made, and of that when it ended. */
  readonly madeAt: string;
  readonly endedAt: string;
  /** The condition of a row, which is called `kept`. */
  readonly isDone: string;
}

/**
 * Lists the rows of a journal that are done with, the least important first. The sends of a message that has not ended stay, because it
 * may need them.
 *
 * @param prefix of the names of its tables.
 */
export const doneRows = (prefix = ''): readonly [DoneRows, DoneRows, DoneRows] => [
  {
    ...{ name: `${prefix}dispatches`, isDone: 'true' },
    ...{ madeAt: 'occurred_at_ms', endedAt: 'occurred_at_ms' },
  },
  {
    ...{ name: `${prefix}sends`, madeAt: 'prepared_at_ms', endedAt: 'ended_at_ms' },
    isDone: `kept.state IN ('sent', 'cancelled', 'failed') AND NOT EXISTS (SELECT 1 FROM ${prefix}updates AS of_it
      WHERE of_it.event_id = kept.correlation_id AND of_it.state <> 'ended')`,
  },
  {
    ...{ name: `${prefix}updates`, madeAt: 'accepted_at_ms', endedAt: 'ended_at_ms' },
    isDone: `kept.state = 'ended'`,
  },
];
