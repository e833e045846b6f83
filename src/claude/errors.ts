import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of reading a CSDK stream, and of the agent that makes one. */
export const csdkError = errorMaker({
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
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof csdkError> {}
}
