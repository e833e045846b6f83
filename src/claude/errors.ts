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
  'result-not-taken': {
    message: 'The result of tool call "{toolCallId}" is shown as it was before it was judged.',
    cause:
      'A handler of agent.tool.returning has changed the result or kept it back, and the SDK did not take what it left: it has not the shape of the results of that tool.',
    hint: 'Keep the shape: give `structured` with the fields of the tool, or change texts alone. A veto of agent.tool.calling refuses the call.',
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
