import { Slots } from '../lanes/slots.js';
import type { AgentDefinition } from './options.js';

/** How many turns of each agent run at once, where its definition says so. */
export class AgentSlots {
  readonly #slots = new WeakMap<AgentDefinition, Slots>();

  /** The slots of an agent; nothing if it has no limit of its own. */
  of(agent: AgentDefinition): Slots | undefined {
    if (agent.maxRunning === undefined) return undefined;
    const known = this.#slots.get(agent);
    if (known !== undefined) return known;
    const slots = new Slots(agent.maxRunning);
    this.#slots.set(agent, slots);
    return slots;
  }
}
