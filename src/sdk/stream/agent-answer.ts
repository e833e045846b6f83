/**
 * The whole answer of an agent to a trigger. Narrow by `status`.
 *
 * @example
 * if (answer.status === 'answered') for (const part of answer.parts) await send(part);
 */
export type AgentAnswer =
  | {
      readonly status: 'answered';
      /** The texts for people, trimmed; none if the agent had nothing to say. */
      readonly parts: readonly string[];
    }
  | {
      readonly status: 'failed';
      /** In one line, for operators. */
      readonly error: string;
      /** True if the agent may have worked on it: a second question may then do things twice. */
      readonly reachedAgent: boolean;
    };
