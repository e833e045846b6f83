import { createKernel } from 'sluice';
import { samplePayload } from 'sluice/testing';

const kernel = createKernel();
using signature = kernel.contribute({
  family: 'egress.preparing',
  class: 'mutator',
  extensionId: 'acme',
  id: 'sign',
  handler: ({ payload }) => ({ content: `${payload.content}\n-- Acme` }),
});
const payload = { ...samplePayload('egress.preparing'), content: 'hello' };
const outcome = await kernel.dispatch('egress.preparing', payload);
outcome.changes; // [{ path: 'content', extensionId: 'acme', contributionId: 'sign' }]

export const { changes } = outcome;
export { signature };
