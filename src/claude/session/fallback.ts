import { definedFields } from '../../kernel/index.js';
import type { AnsweredBy, AssistantMessage } from '../../sdk/stream/index.js';
import { type CsdkFrame, textField } from '../frames/frame.js';

/** Which model the SDK went over to on its own, if it did (csdk §6.7). */
export function modelFallback() {
  let told: AnsweredBy | undefined;

  return {
    /** Reads a `system` frame that tells of a fallback. One of a subagent or of a side question leaves the run's model. */
    read(frame: CsdkFrame): void {
      if (frame.scope === 'local' || textField(frame, 'agent_id') !== undefined) return;
      const fromModel = textField(frame, 'original_model');
      const toModel = textField(frame, 'fallback_model');
      if (fromModel === undefined || toModel === undefined) return;
      const reason = textField(frame, 'content') ?? textField(frame, 'trigger');
      const isBack = frame.direction === 'revert';
      told = isBack ? undefined : { fromModel, toModel, ...definedFields({ reason }) };
    },

    /** The fallback that a run ended with: none if the model that was asked has answered last. */
    after: (messages: readonly AssistantMessage[]): AnsweredBy | undefined =>
      messages.at(-1)?.model === told?.fromModel ? undefined : told,
  };
}
