import type { AnsweredBy, AssistantMessage } from '../../stream/index.js';
import { type CsdkFrame, textField } from '../frames/frame.js';

/** Which model the SDK went over to on its own, if it did (csdk §6.7). */
export class Fallback {
  #told: AnsweredBy | undefined;

  /** Reads a `system` frame that tells of a fallback. One of a subagent or of a side question leaves the run's model. */
  read(frame: CsdkFrame): void {
    if (frame.scope === 'local' || textField(frame, 'agent_id') !== undefined) return;
    const fromModel = textField(frame, 'original_model');
    const toModel = textField(frame, 'fallback_model');
    if (fromModel === undefined || toModel === undefined) return;
    const reason = textField(frame, 'content') ?? textField(frame, 'trigger');
    const told = { fromModel, toModel, ...(reason !== undefined && { reason }) };
    this.#told = frame.direction === 'revert' ? undefined : told;
  }

  /** The fallback that a run ended with: none if the model that was asked has answered last. */
  after(messages: readonly AssistantMessage[]): AnsweredBy | undefined {
    return messages.at(-1)?.model === this.#told?.fromModel ? undefined : this.#told;
  }
}
