import { allow, cancel, createKernel, defineStage, explain, type StageTypes } from 'sluice-kernel';
import { z } from 'zod';

const billChecking = defineStage({
  family: 'acme.bill.checking',
  classes: ['mutator', 'veto'],
  mode: 'sequential',
  payload: z.object({ cents: z.int(), note: z.string() }), // any Standard Schema
  sample: { cents: 1200, note: 'tea' },
  laws: { note: 'append-text' }, // all that a patch may write
  cancelCodes: ['over-budget'],
});

declare module 'sluice-kernel' {
  interface Families {
    'acme.bill.checking': StageTypes<typeof billChecking>;
  }
}

const kernel = createKernel({ stages: [billChecking] });
const acme = { family: 'acme.bill.checking', extensionId: 'acme' } as const;
kernel.contribute({ ...acme, class: 'mutator', id: 'tax', handler: () => ({ note: 'with tax' }) });
kernel.contribute({
  ...acme,
  class: 'veto',
  id: 'limit',
  failClosed: true,
  handler: ({ payload }) => (payload.cents > 5000 ? cancel('over-budget') : allow()),
});
const outcome = await kernel.dispatch('acme.bill.checking', { cents: 9900, note: 'a cake' });
export const lines = explain(outcome);
