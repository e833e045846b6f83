/**
 * What an agent answered to a trigger, whole. Narrow by `status`.
 *
 * @example
 * if (answer.status === 'answered') for (const part of answer.parts) await send(part);
 */
export type AgentAnswer =
  | {
      readonly status: 'answered';
      /** The texts for people, trimmed; none where the agent had nothing to say. */
      readonly parts: readonly string[];
    }
  | {
      readonly status: 'failed';
      /** In one line, for operators. */
      readonly error: string;
      /** Whether the agent may have worked on it: asking again may then do things twice. */
      readonly reachedAgent: boolean;
    };
