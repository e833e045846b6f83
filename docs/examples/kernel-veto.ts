import { allow, cancel, createKernel } from 'sluice-kernel';

const kernel = createKernel();
kernel.contribute({
  family: 'agent.tool.calling',
  class: 'veto',
  extensionId: 'acme',
  id: 'no-shell',
  failClosed: true, // if it throws, the tool does not run
  handler: ({ payload }) => (payload.toolName === 'shell' ? cancel('policy') : allow()),
});
