import { type ErrorRow, errorMaker } from 'sluice-kernel/internal';

/** The errors of reading a CSDK stream, and of the agent that makes one. */
export const csdkErrors = {
  'bad-sdk-questions': {
    message: 'sdkQuestions "{sdkQuestions}" cannot be used: {problem}.',
    cause:
      'Humans are to answer the questions of the SDK, and something else answers them, or nobody does.',
    hint: 'Leave out sdkQuestions, or leave out canUseTool and make a bridge that enforces.',
  },
  'missing-package': {
    message: 'Package "{package}" cannot be used: {problem}.',
    cause: 'It is large and serves one feature, so it is installed only by those who want that.',
    hint: 'Run `npm install {package}@{version}`.',
  },
  'reserved-option': {
    message: 'Option "{option}" of {package} is set by provider "{provider}".',
    cause:
      'It would let tool calls go around the pipeline, or the provider has its own name for it.',
    hint: 'Leave it out. {instead}',
  },
} as const satisfies Record<string, ErrorRow>;

/** The rows as a type. */
export type CsdkErrors = typeof csdkErrors;

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends CsdkErrors {}
}

/** Makes an error of this layer. */
export const csdkError = errorMaker(csdkErrors);
