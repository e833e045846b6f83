import { type ErrorRow, errorMaker } from '../kernel/index.js';

/** The errors of reading a CSDK stream. */
export const csdkErrors = {
  'session-out-of-order': {
    message: 'Session event {index} breaks the order ({rule}): {problem}.',
    cause: 'An agent emitted its events in an order that their readers do not expect.',
    hint: 'Mend what emits them: checkOrdering lists every violation of a recorded run.',
  },
} as const satisfies Record<string, ErrorRow>;

/** The rows as a type. */
export type CsdkErrors = typeof csdkErrors;

declare module '../kernel/errors.js' {
  interface ErrorRows extends CsdkErrors {}
}

/** Makes an error of this layer. */
export const csdkError = errorMaker(csdkErrors);
