import { cancel, createKernel } from 'sluice-kernel';

const kernel = createKernel();
kernel.contribute({
  family: 'agent.tool.calling',
  class: 'veto',
  extensionId: 'acme',
  id: 'no-shell',
  handler: ({ payload }) => (payload.toolName === 'shell' ? cancel('policy') : undefined),
});
