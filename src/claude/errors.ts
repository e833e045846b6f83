import { type ErrorRow, errorMaker } from '../kernel/index.js';

/** The errors of reading a CSDK stream. */
export const csdkErrors = {
  'bad-sdk-questions': {
    message: 'sdkQuestions "{sdkQuestions}" cannot be used: {problem}.',
    cause:
      'Humans are to answer the questions of the SDK, and something else answers them, or nobody does.',
    hint: 'Leave out sdkQuestions, or leave out canUseTool and make a bridge that enforces.',
  },
} as const satisfies Record<string, ErrorRow>;

/** The rows as a type. */
export type CsdkErrors = typeof csdkErrors;

declare module '../kernel/errors.js' {
  interface ErrorRows extends CsdkErrors {}
}

/** Makes an error of this layer. */
export const csdkError = errorMaker(csdkErrors);
