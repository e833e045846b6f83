import { type ErrorRow, errorMaker } from '../../kernel/index.js';

/** The errors of an agent. */
export const agentErrors = {
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
export type AgentErrors = typeof agentErrors;

declare module '../../kernel/errors.js' {
  interface ErrorRows extends AgentErrors {}
}

/** Makes an error of this layer. */
export const agentError = errorMaker(agentErrors);
