import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of reading the facts of a run. */
export const streamError = errorMaker({
  'run-driven': {
    message: 'Run "{what}" already has a dispatcher.',
    cause:
      'An agent turn or another bridge dispatches the run, or this bridge was run before: its facts would be told twice.',
    hint: 'Give each run its own runId and its own bridge. Inside a turn, a provider yields session events and asks request.gate.',
  },
  'session-out-of-order': {
    message: 'Session event {index} breaks the order ({rule}): {problem}.',
    cause: 'An agent emitted its events in an order that their readers do not expect.',
    hint: 'Fix what emits them: checkOrdering lists every violation of a recorded run.',
  },
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof streamError> {}
}
