import type { AnsweredAsker, Outcome } from 'sluice-kernel';
import { kernel } from './kernel-judge.js';

/** Judges a call of a tool. `answer` asks a human; it may throw, so that the caller suspends. */
export async function judge(
  call: { readonly toolName: string; readonly params: Record<string, unknown> },
  answer: (title: string) => Promise<boolean>,
): Promise<Outcome<'agent.tool.calling'>> {
  let outcome = await kernel.dispatch('agent.tool.calling', call);
  const answered: AnsweredAsker[] = [];
  while (outcome.status === 'cancelled' && outcome.cancel.question !== undefined) {
    const { asker, title } = outcome.cancel.question;
    if (!(await answer(title))) return outcome;
    answered.push(asker);
    const given = { after: outcome, answered: [...answered] };
    outcome = await kernel.dispatch('agent.tool.calling', outcome.payload, given);
  }
  return outcome;
}
