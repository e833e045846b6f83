import type { FamilyName, Outcome } from 'sluice';

/** Returns whether an outcome is one of a family, whose payload it then has. */
export function isOf<F extends FamilyName>(
  outcome: Outcome,
  family: F,
): outcome is Outcome<F> & Outcome {
  return outcome.event.family === family;
}

/** The agent run that an outcome belongs to. */
export function runOf({ event }: Pick<Outcome, 'event'>): string | undefined {
  const { runId } = event.payload as { readonly runId?: string }; // the families of a turn have it
  return event.family.startsWith('agent.') ? runId : undefined;
}
